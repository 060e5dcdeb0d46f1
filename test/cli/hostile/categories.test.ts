import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommands } from '../../../src/cli/run/run-commands.ts';
import { MAX_FOREIGN_CATEGORIES } from '../../../src/domain/taxonomy.ts';
import type { Summary } from '../../../src/record/summary/summary.ts';
import { temporaryFolder } from '../../helpers/cli.ts';
import { closeAfterEach, restGuard } from '../../helpers/guards/guard-pool.ts';
import { onlyRun, outcomes } from '../../helpers/run-directory.ts';
import { typed } from '../terminal.ts';
import { expectOnlyOurLines, HOSTILE } from './output.ts';

closeAfterEach();

/** A run over so many texts, whose guard flags what it likes; `flags` is asked with the number of the request. */
async function run(items: number, flags: (request: number) => Record<string, boolean>) {
  const server = await restGuard({
    script: ({ harmless, number }) =>
      harmless
        ? undefined
        : {
            body: { flagged: true, score: 0.9, latency_ms: 1, subcategory_flags: flags(number) },
          },
  });
  const folder = await temporaryFolder();
  const file = join(folder, 'a.csv');
  await writeFile(file, `text\n${Array.from({ length: items }, (_, at) => `text ${at}\n`).join('')}`);
  const out = join(folder, 'runs');
  const done = await typed(['enqueue', file, '--out', out, '--guard', server.address], { runs: runCommands });
  const dir = await onlyRun(out);
  const summary = JSON.parse(await readFile(join(dir, 'summary.json'), 'utf8')) as Summary;
  return { ...done, dir, summary };
}

test('a category with a name that is none makes the reply invalid, and is shown nowhere', async () => {
  const { status, stdout, stderr, dir, summary } = await run(3, () => ({ hate: true, [HOSTILE]: true }));
  expect(status).toBe(5);
  expect(summary).toMatchObject({ by_error_code: { INVALID_REPLY: 3 }, by_category: {} });
  expectOnlyOurLines(stdout, stderr);
  expect(await readFile(join(dir, 'verdicts.jsonl'), 'utf8')).not.toContain('verified: 999');
});

test('a flood of categories is capped and counted in every place', async () => {
  const { status, stdout, stderr, dir, summary } = await run(400, (request) =>
    Object.fromEntries(Array.from({ length: 64 }, (_, at) => [`category ${request} ${at}`, true])),
  );
  expect(status).toBe(0);
  expectOnlyOurLines(stdout, stderr);
  expect(stdout.split('\n').length).toBeLessThan(40);
  expect(Object.keys(summary.by_category)).toHaveLength(MAX_FOREIGN_CATEGORIES + 1);
  expect(Object.values(summary.by_category).reduce((sum, count) => sum + count)).toBe(400 * 64);
  const lines = await outcomes(dir);
  expect(Math.max(...lines.map((line) => JSON.stringify(line).length))).toBeLessThan(10_000);
  const verified = await typed(['verify', dir], { runs: runCommands });
  expect(verified.stdout).toMatch(/^verified: 400 items = 400 verdicts \+ 0 errors/);
});
