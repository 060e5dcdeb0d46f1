import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import type { z } from 'zod';
import { MANIFEST } from '../../src/record/manifest/manifest.ts';
import { OUTCOME } from '../../src/record/outcomes/outcome-schema.ts';
import { SUMMARY } from '../../src/record/summary/summary-schema.ts';
import { expectFile } from '../config/settings/markdown-list.ts';
import { folderWith, guardsweep } from '../helpers/cli.ts';
import { jsonl } from '../helpers/documents.ts';
import { jsonLines, onlyRun } from '../helpers/run-directory.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Files as they are written now: keys that only lines of earlier builds lack are required. */
function published(name: string, schema: z.ZodType): Schema {
  return { $id: `urn:guardsweep:schema:${name}:1`, ...schema.toJSONSchema({ io: 'output' }) };
}

const SCHEMAS = {
  'outcome-line': published('outcome-line', OUTCOME),
  summary: published('summary', SUMMARY),
  manifest: published('manifest', MANIFEST),
};

// `npx vitest run test/record/published-schemas.test.ts -u` writes the files again.
it.each(Object.entries(SCHEMAS))(
  'the published schema of %s is the one that files are read with',
  (name, schema) => expectFile(`docs/schemas/${name}.schema.json`, JSON.stringify(schema)),
);

const ajv = new Ajv2020({ strict: true, allErrors: true, formats: { 'date-time': true } });

it('the files of a run have the form that their schema says, and nothing else has', async () => {
  const run = await mixedRun();
  const isLine = ajv.compile(SCHEMAS['outcome-line']);
  for (const file of ['verdicts.jsonl', 'errors.jsonl']) {
    const all = await jsonLines(join(run, file));
    expect(all.length).toBeGreaterThan(1);
    for (const line of all) expect([isLine(line), isLine.errors]).toEqual([true, null]);
  }
  for (const name of ['summary', 'manifest'] as const) {
    const isValid = ajv.compile(SCHEMAS[name]);
    const value = JSON.parse(await readFile(join(run, `${name}.json`), 'utf8')) as object;
    expect([isValid(value), isValid.errors]).toEqual([true, null]);
    expect(isValid({ ...value, another: 1 })).toBe(false);
    expect(isValid({ ...value, run: null })).toBe(false);
  }
});

/** A run over turns, pairs, streams, errors and a gate. */
async function mixedRun(): Promise<string> {
  const turn = (role: string, content: unknown) => ({ role, content });
  const records = jsonl(
    { id: 'calm', messages: [turn('user', 'hello'), turn('assistant', 'hi')] },
    { id: 'flagged', messages: [turn('user', 'hello'), turn('tool', 'I will kill you with a pipe bomb')] },
    { id: 'pair', prompt: 'Q', chosen: 'a good answer', rejected: 'I hate you all' },
    { id: 'blank', text: ' ' },
    { id: 'image', messages: [turn('user', [{ type: 'image' }])] },
  );
  const sources =
    '{ path: a.jsonl, audit: every-turn }, { path: streams.jsonl, asStream: true }, { path: odd.bin }';
  const folder = await folderWith({
    'a.jsonl': records,
    'streams.jsonl': jsonl({ prompt: 'How?', chunks: ['I will ', 'kill you'] }),
    'odd.bin': Buffer.from([0x7f, 0x45, 0x4c, 0x46, 1, 2, 3, 0]),
    'job.yaml': `output: { dir: runs }\nsources: [${sources}]\nfailIf: { errorRate: 1 }\n`,
  });
  const done = await guardsweep(['enqueue', 'job.yaml', '--guard', 'embedded:'], { cwd: folder });
  // Some items are errors.
  expect(done.status).toBe(5);
  return onlyRun(join(folder, 'runs'));
}
