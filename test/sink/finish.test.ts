import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import type { Item } from '../../src/domain/item.ts';
import type { Outcome } from '../../src/domain/outcome.ts';
import { finishRun } from '../../src/sink/final-files/finish.ts';
import { summaryLines } from '../../src/record/summary/summary-text.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { promptItem, settledItem } from '../helpers/items.ts';
import { jsonLines, outcomes } from '../helpers/run-directory.ts';
import {
  claim,
  finishedRun,
  finishPass,
  newRun,
  problemOf,
  signal,
  WITH_TABLES,
  work,
} from '../record/run-fixture.ts';
import { FINGERPRINT, failed, resultOf, shardOf, verdict } from '../record/shards.ts';

describe('finishing a run', () => {
  it('merges interleaved lanes into corpus order, with every count true', async () => {
    const text = shardOf(0, [0, 1, 4, 5]);
    const chat = shardOf(1, [2, 3, 6], { lane: 'chat' });
    const settled = [settledItem(7, 'MALFORMED_ROW'), settledItem(8, 'EMPTY_CONTENT')];
    const more = { ...shardOf(2, []), items: settled };
    const { dir, summary, head } = await finishedRun([resultOf(text), resultOf(chat), resultOf(more)]);

    const lines = await outcomes(dir);
    expect(lines.map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    const error = { code: 'MALFORMED_ROW', retryable: false };
    expect(lines[7]).toMatchObject({ status: 'error', score: null, attempts: 0, error });
    expect(lines[3]).toMatchObject({ decision: 'block', decided_by: 'flagged', fingerprint: FINGERPRINT.id });
    expect((await jsonLines(join(dir, 'errors.jsonl'))).length).toBe(2);
    const counts = { items: 9, verdicts: 7, errors: 2 };
    expect(summary).toMatchObject({
      status: 'finished',
      ...counts,
      flagged: 3,
      chain_head: head,
      by_decision: { allow: 4, review: 0, block: 3 },
      by_category: { hate: 3 },
      by_error_code: { MALFORMED_ROW: 1, EMPTY_CONTENT: 1 },
      by_modality: { text: 9 },
      guards: [
        { endpoint: 'grpc://127.0.0.1:8001', kind: 'triton', fingerprint: FINGERPRINT.id, verdicts: 7 },
      ],
    });
    expect(JSON.parse(await readFile(join(dir, 'summary.json'), 'utf8'))).toEqual(summary);
    const report = await verifyRun(dir, { head });
    expect(report).toEqual({ ok: true, run: summary.run, pass: 1, head, signature: 'none', ...counts });
  });

  it('records the hash of a file that was judged as a whole, and none of one that was found changed', async () => {
    const sha256 = 'f'.repeat(64);
    const sources = ['a.txt', 'b.txt'];
    const items = sources.map((path, seq) => {
      const item = promptItem(seq, 'a text', path);
      return { ...item, source: { ...item.source, row: null, line: null, sha256, bytes: 6 } };
    });
    const result = resultOf({ ...shardOf(0, []), items }, (item) =>
      item.seq === 0 ? verdict(item) : failed('SOURCE_CHANGED'),
    );
    const { dir } = await finishedRun([result], { sources });
    const hashes = [sha256, null].map((hash, source) => ({ source, sha256: hash }));
    expect(await jsonLines(join(dir, 'source-hashes.jsonl'))).toEqual(hashes);
    expect(await verifyRun(dir)).toMatchObject({ ok: true, items: 2 });
  });

  it('calls a run with an uncommitted shard, or an open plan, incomplete, and writes nothing', async () => {
    const run = await newRun();
    const log = await claim(run);
    const results = [resultOf(shardOf(0, [0, 1])), resultOf(shardOf(1, [2, 3]))];
    await work(run.dir, log, results, [1]);
    const summary = await finishRun(log, signal);
    expect(summary).toMatchObject({ status: 'incomplete', items: 4, verdicts: 2, errors: 0 });
    const [judged, status] = summaryLines(summary);
    expect([judged, status?.slice(0, 10)]).toEqual(['Judged 2 of 4 items; 2 not judged', 'INCOMPLETE']);
    const begun = ['log', 'plan.jsonl', 'run.json', 'skipped.jsonl', 'sources.jsonl'];
    expect((await readdir(run.dir)).sort()).toEqual(begun);
    expect(await problemOf(run.dir)).toBe('manifest.json is missing: the run was not finished');

    await log.commit(results[0]!);
    expect(await finishRun(log, signal)).toMatchObject({ status: 'finished', verdicts: 4 });
    await log.close();
    expect(await verifyRun(run.dir)).toMatchObject({ ok: true });
  });

  it('takes the outcome of the highest pass, and keeps the earlier manifest', async () => {
    const without = (...seqs: number[]) => {
      return (item: Item): Outcome => (seqs.includes(item.seq) ? failed('TIMEOUT') : verdict(item));
    };
    const shards = [shardOf(0, [0, 1, 2, 3]), shardOf(1, [4, 5])];
    const results = shards.map((shard) => resultOf(shard, without(0, 2, 4)));
    const { summary, ...run } = await finishedRun(results);
    expect(summary).toMatchObject({ pass: 1, verdicts: 3, errors: 3 });
    const before = await readFile(join(run.dir, 'manifest.json'));

    const again = resultOf(shardOf(2, [0, 2], { pass: 2 }), without(2));
    const second = await finishPass(run, [again, resultOf(shardOf(3, [4], { pass: 2 }))]);
    expect(second.summary).toMatchObject({ pass: 2, verdicts: 5, errors: 1 });
    const ends = (await outcomes(run.dir)).map(({ seq, status }) => `${seq} ${status}`);
    expect(ends).toEqual(['0 ok', '1 ok', '2 error', '3 ok', '4 ok', '5 ok']);
    expect(await readFile(join(run.dir, 'manifest.1.json'))).toEqual(before);
    expect(await verifyRun(run.dir)).toMatchObject({ ok: true, pass: 2, verdicts: 5, errors: 1 });

    // As a crash just before the last rename would leave it.
    await writeFile(join(run.dir, 'manifest.json'), before);
    await writeFile(join(run.dir, '.0002-manifest.json.tmp'), '{');
    expect(await verifyRun(run.dir)).toMatchObject({ ok: false });
    const third = await claim(run);
    expect(await finishRun(third, signal)).toMatchObject({ pass: 2, verdicts: 5, errors: 1 });
    await third.close();
    expect(await readFile(join(run.dir, 'manifest.1.json'))).toEqual(before);
    expect((await readdir(run.dir)).filter((name) => name.startsWith('.'))).toEqual([]);
    expect(await verifyRun(run.dir)).toMatchObject({ ok: true, pass: 2 });
  });

  it('refuses a shard whose outcomes do not fit its items', async () => {
    const run = await newRun();
    const log = await claim(run);
    const whole = resultOf(shardOf(0, [0, 1]));
    const unfit = [{ outcomes: whole.outcomes.slice(1) }, { outcomes: [null, null] }, { fingerprints: [] }];
    for (const change of unfit)
      await expect(log.commit({ ...whole, ...change })).rejects.toMatchObject({ kind: 'internal' });
    await log.commit(whole);
    await log.close();
  });
});

it('tables for spreadsheets are split below the rows a spreadsheet takes, and files of an earlier pass that are too many go', async () => {
  const run = await newRun(WITH_TABLES);
  const log = await claim(run);
  const shard = shardOf(0, [0, 1, 2, 3, 4]);
  await work(run.dir, log, [resultOf(shard, (item) => verdict(item, { flagged: true }))]);
  const split = await finishRun(log, signal, { flaggedBounds: { csvRows: 2, workbookRows: 2 } });
  expect(split.files).toEqual(expect.arrayContaining(['flagged-3.csv', 'flagged.xlsx']));
  const rows = async (name: string) =>
    parse<object>(await readFile(join(run.dir, name)), { bom: true, columns: true }).length;
  const tables = ['flagged.csv', 'flagged-2.csv', 'flagged-3.csv'];
  expect(await Promise.all(tables.map(rows))).toEqual([2, 2, 1]);
  await finishRun(log, signal);
  await log.close();
  const left = (await readdir(run.dir)).filter((name) => name.startsWith('flagged'));
  expect(left.sort()).toEqual(['flagged.csv', 'flagged.xlsx']);
  expect(await verifyRun(run.dir)).toMatchObject({ ok: true });
});
