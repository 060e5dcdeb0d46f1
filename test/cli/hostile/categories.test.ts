import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommands } from '../../../src/cli/run/run-commands.ts';
import { MAX_FOREIGN_CATEGORIES } from '../../../src/domain/taxonomy.ts';
import type { Summary } from '../../../src/record/summary/summary.ts';
import { folderWith } from '../../helpers/cli.ts';
import { openAiServer, restGuard } from '../../helpers/guards/guard-pool.ts';
import { onlyRun, outcomes } from '../../helpers/run-directory.ts';
import { typed } from '../terminal.ts';
import { expectNothingForged, HOSTILE } from './output.ts';

/** A run over so many texts, whose guard flags what it likes; `flags` is asked with the number of the request. */
async function run(items: number, flags: (request: number) => Record<string, boolean>) {
  const { address } = await restGuard({
    script: ({ harmless, number }) => {
      if (harmless) return undefined;
      return { body: { flagged: true, score: 0.9, latency_ms: 1, subcategory_flags: flags(number) } };
    },
  });
  return runBy(address, items);
}

async function runBy(guard: string, items: number, flags: readonly string[] = []) {
  const rows = Array.from({ length: items }, (_, at) => `text ${at}\n`);
  const folder = await folderWith({ 'a.csv': `text\n${rows.join('')}` });
  const out = join(folder, 'runs');
  const enqueue = ['enqueue', join(folder, 'a.csv'), '--out', out, '--guard', guard, ...flags];
  const done = await typed(enqueue, { runs: runCommands });
  const dir = await onlyRun(out);
  const summary = JSON.parse(await readFile(join(dir, 'summary.json'), 'utf8')) as Summary;
  return { ...done, dir, summary };
}

test('a category with a name that is none makes the reply invalid, and is shown nowhere', async () => {
  const { status, stdout, stderr, dir, summary } = await run(3, () => ({ hate: true, [HOSTILE]: true }));
  expect(status).toBe(5);
  expect(summary).toMatchObject({ by_error_code: { INVALID_REPLY: 3 }, by_category: {} });
  expectNothingForged(stdout, stderr);
  expect(await readFile(join(dir, 'verdicts.jsonl'), 'utf8')).not.toContain('verified: 999');
});

test('a flood of categories is capped and counted in every place', async () => {
  const { status, stdout, stderr, dir, summary } = await run(400, (request) =>
    Object.fromEntries(Array.from({ length: 64 }, (_, at) => [`category ${request} ${at}`, true])),
  );
  expect(status).toBe(0);
  expectNothingForged(stdout, stderr);
  expect(stdout.split('\n').length).toBeLessThan(40);
  expect(Object.keys(summary.by_category)).toHaveLength(MAX_FOREIGN_CATEGORIES + 1);
  expect(Object.values(summary.by_category).reduce((sum, count) => sum + count)).toBe(400 * 64);
  const lines = await outcomes(dir);
  expect(Math.max(...lines.map((line) => JSON.stringify(line).length))).toBeLessThan(10_000);
  const verified = await typed(['verify', dir], { runs: runCommands });
  expect(verified.stdout).toMatch(/^verified: 400 items = 400 verdicts \+ 0 errors/);
});

/** A run over three texts judged by a moderation endpoint whose reply to text n has these categories, all at 0.9. */
async function moderated(names: (item: number) => string[]) {
  const server = await openAiServer({
    family: 'moderations',
    model: 'omni-moderation-latest',
    script: ({ isOwn, contents, body }) => {
      if (isOwn) return undefined;
      const results = contents.map((text) => {
        const found = names(Number(text.slice('text '.length)));
        return {
          flagged: true,
          categories: Object.fromEntries(found.map((name) => [name, true])),
          category_scores: Object.fromEntries(found.map((name) => [name, 0.9])),
        };
      });
      return { body: { id: 'x', model: body.model, results } };
    },
  });
  return runBy(server.address, 3, ['--canaries', 'off']);
}

test('moderations with more categories in all than tables have columns make a whole run', async () => {
  const { status, dir, summary } = await moderated((item) => [
    'sexual/minors',
    ...Array.from({ length: 40 }, (_, at) => `category-${item}-${at}`),
  ]);
  expect(status).toBe(0);
  expect(summary).toMatchObject({ verdicts: 3, restricted: 3, by_decision: { block: 3 } });
  for (const name of summary.files) await readFile(join(dir, name));
  expect(summary.files).toEqual(expect.arrayContaining(['verdicts.parquet', 'restricted.csv']));
  const verified = await typed(['verify', dir], { runs: runCommands });
  expect(verified.stdout).toMatch(/^verified: 3 items = 3 verdicts \+ 0 errors/);
});
