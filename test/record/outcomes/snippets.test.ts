import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, it } from 'vitest';
import type { Item } from '../../../src/domain/item.ts';
import type { Outcome, OutcomeLine } from '../../../src/domain/outcome.ts';
import type { ItemRequest } from '../../../src/domain/request.ts';
import { DEFAULT_POLICY } from '../../../src/domain/policy.ts';
import { readChain } from '../../../src/record/log/read-chain.ts';
import { withSnippets } from '../../../src/record/outcomes/snippets.ts';
import { outlinePlan } from '../../../src/record/outcomes/plan-outline.ts';
import { LineFiles } from '../../../src/record/outcomes/line-files.ts';
import { runTotals } from '../../../src/record/outcomes/run-totals.ts';
import { shardCheck } from '../../../src/record/verify/shard-check.ts';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { conversation, prompt, response } from '../../helpers/guards/requests.ts';
import { judgedItem } from '../../helpers/items.ts';
import { outcomes } from '../../helpers/run-directory.ts';
import { finishedRun, signal, WITH_TABLES } from '../run-fixture.ts';
import { resultOf, shardOf, verdict } from '../shards.ts';

/** Judges every item with these flags of categories, those without any as not flagged. */
const flaggedAs =
  (flagsOf: (seq: number) => string[]) =>
  (item: Item): Outcome => {
    const subcategoryFlags = flagsOf(item.seq);
    return verdict(item, { flagged: subcategoryFlags.length > 0, subcategoryScores: null, subcategoryFlags });
  };

const WITH_CONTENT = { output: { includeContent: true } };

const snippetsOf = async (dir: string) => (await outcomes(dir)).map(({ snippet }) => snippet);

/** Items 0 to 2 are blocked, of which 1 and 2 are restricted; 3 is allowed. */
const FLAGS = [['hate'], ['child_sexual_exploitation'], ['sexual_content'], []];
const judge = flaggedAs((seq) => FLAGS[seq]!);

const RESULT = resultOf(shardOf(0, [0, 1, 2, 3]), judge);
const FORGED = { ...RESULT, snippets: Array.from({ length: 4 }, () => ({ text: 'forged', parts: [] })) };

it('is taken along for what is to review or block and not restricted', async () => {
  expect(withSnippets(RESULT, DEFAULT_POLICY).snippets).toMatchObject([{ text: 'text 0' }, null, null, null]);
  const { dir } = await finishedRun([withSnippets(RESULT, DEFAULT_POLICY)], {
    output: { ...WITH_CONTENT.output, ...WITH_TABLES.output },
  });
  expect(await snippetsOf(dir)).toEqual(['text 0', null, null, null]);
  const flagged: object[] = parse(await readFile(join(dir, 'flagged.csv')), { bom: true, columns: true });
  expect(flagged).toMatchObject([{ seq: '0', snippet: 'text 0' }]);
  expect(await verifyRun(dir)).toMatchObject({ ok: true });
});

it('is not recorded where the outcome may hold none, whatever a worker says', async () => {
  const { dir } = await finishedRun([FORGED], WITH_CONTENT);
  expect(await snippetsOf(dir)).toEqual(['forged', null, null, null]);
});

it('is not recorded of anything that a restricted content is a part of, in its shard', async () => {
  const bad = 'the restricted text';
  const user = (content: string) => ['user', content] as const;
  const requests: ItemRequest[] = [
    prompt(bad),
    response(bad, 'a reply'),
    response(null, bad),
    conversation([user(bad), user('a later turn')]),
    prompt('something else'),
  ];
  const items = requests.map((request, seq) => judgedItem(seq, request));
  const judge = flaggedAs((seq) => [seq === 0 ? 'child_sexual_exploitation' : 'hate']);
  const result = withSnippets(resultOf({ ...shardOf(0, []), items }, judge), DEFAULT_POLICY);
  const { dir } = await finishedRun([result], WITH_CONTENT);
  expect(await snippetsOf(dir)).toEqual([null, null, null, null, 'something else']);
});

it('is not recorded of another turn of a conversation in which a turn is restricted', async () => {
  const turns = shardOf(0, [0, 1, 2]).items.map((item) => {
    return { ...item, turn: item.seq + 1, source: { ...item.source, row: item.seq < 2 ? 1 : 2 } };
  });
  const judge = flaggedAs((seq) => [seq === 1 ? 'child_sexual_exploitation' : 'hate']);
  const result = withSnippets(resultOf({ ...shardOf(0, []), items: turns }, judge), DEFAULT_POLICY);
  const { dir } = await finishedRun([result], WITH_CONTENT);
  expect(await snippetsOf(dir)).toEqual([null, null, 'text 2']);
});

it('is damage where the outcome may hold none', async () => {
  const { dir, record } = await finishedRun([RESULT], WITH_CONTENT);
  const chain = await readChain(dir, { signal });
  const plan = await outlinePlan(join(dir, 'plan.jsonl'), chain.commits, { signal });
  const lines = await LineFiles.begin(async () => ({ write: async () => undefined }));
  const read = (seq: number, includeContent: boolean): Promise<unknown> => {
    const parse = (text: string): OutcomeLine => {
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
  for (const seq of [0, 1, 3]) {
    const includeContent = seq > 0;
    const problem = `the outcome of item ${seq} holds content that it must not hold`;
    await expect(read(seq, includeContent)).rejects.toThrow(problem);
  }
});
