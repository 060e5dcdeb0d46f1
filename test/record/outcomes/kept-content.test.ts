import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, it } from 'vitest';
import type { Item } from '../../../src/domain/item.ts';
import type { LogLine, Outcome, OutcomeLine } from '../../../src/domain/outcome.ts';
import { DEFAULT_POLICY } from '../../../src/domain/policy.ts';
import { readChain } from '../../../src/record/log/read-chain.ts';
import { withSnippets } from '../../../src/record/outcomes/kept-content.ts';
import { outlinePlan } from '../../../src/record/outcomes/plan-outline.ts';
import { LineFiles } from '../../../src/record/outcomes/line-files.ts';
import { runTotals } from '../../../src/record/outcomes/run-totals.ts';
import { shardCheck } from '../../../src/record/verify/shard-check.ts';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { outcomes } from '../../helpers/run-directory.ts';
import { finishedRun, resultOf, shardOf, signal, verdict } from '../run-fixture.ts';

const FLAGS = [['hate'], ['child_sexual_exploitation'], ['sexual_content'], []];

/** Items 0 to 2 are blocked, of which 1 and 2 are restricted; 3 is allowed. */
function judge(item: Item): Outcome {
  const { judgement } = verdict(item, { flagged: item.seq < 3 });
  return {
    judgement: { ...judgement!, subcategoryScores: null, subcategoryFlags: FLAGS[item.seq]! },
    failure: null,
  };
}

const RESULT = resultOf(shardOf(0, [0, 1, 2, 3]), judge);
const FORGED = { ...RESULT, snippets: ['forged', 'forged', 'forged', 'forged'] };

it('is taken along for what is to review or block and not restricted', async () => {
  expect(withSnippets(RESULT, DEFAULT_POLICY).snippets).toEqual(['text 0', null, null, null]);
  const { dir } = await finishedRun([withSnippets(RESULT, DEFAULT_POLICY)], {
    formats: ['jsonl', 'csv', 'parquet'],
    output: { includeContent: true },
  });
  expect((await outcomes(dir)).map(({ snippet }) => snippet)).toEqual(['text 0', null, null, null]);
  const flagged: object[] = parse(await readFile(join(dir, 'flagged.csv')), { bom: true, columns: true });
  expect(flagged).toMatchObject([{ seq: '0', snippet: 'text 0' }]);
  expect(await verifyRun(dir)).toMatchObject({ ok: true });
});

it('is not recorded where the outcome may hold none, whatever a worker says', async () => {
  const { dir } = await finishedRun([FORGED], { output: { includeContent: true } });
  expect((await outcomes(dir)).map(({ snippet }) => snippet)).toEqual(['forged', null, null, null]);
});

it('is not recorded in a run without content, whose table has no column for it', async () => {
  const { dir } = await finishedRun([FORGED]);
  expect((await outcomes(dir)).map(({ snippet }) => snippet)).toEqual([null, null, null, null]);
  expect(await readFile(join(dir, 'flagged.csv'), 'utf8')).not.toContain('snippet');
});

it('is damage where the outcome may hold none', async () => {
  const { dir, record } = await finishedRun([RESULT], { output: { includeContent: true } });
  const chain = await readChain(dir, { signal });
  const plan = await outlinePlan(join(dir, 'plan.jsonl'), chain.commits, { signal });
  const lines = await LineFiles.begin(async () => ({ write: async () => undefined }));
  const read = (seq: number, includeContent: boolean): Promise<unknown> => {
    const parse = (text: string): LogLine => {
      const line = JSON.parse(text) as OutcomeLine;
      return line.seq === seq ? { ...line, snippet: 'planted' } : line;
    };
    const output = { ...record.config.output, includeContent };
    const of = { ...record, config: { ...record.config, output } };
    const check = shardCheck({ record: of, chain, plan });
    const planting: typeof check = (shard, accounts) => {
      shard.lines(parse);
      check(shard, accounts);
    };
    return runTotals({ runDir: dir, record: of, chain, plan, signal, check: planting }, lines);
  };
  await read(0, true);
  for (const [seq, includeContent] of [
    [0, false],
    [1, true],
    [3, true],
  ] as const) {
    await expect(read(seq, includeContent)).rejects.toThrow(
      `the outcome of item ${seq} holds content that it must not hold`,
    );
  }
});
