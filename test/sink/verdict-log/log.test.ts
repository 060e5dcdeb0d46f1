import { appendFile, cp, readFile, readdir, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ShardResult } from '../../../src/domain/shard.ts';
import { encodePlanLine } from '../../../src/ingest/plan/plan-line.ts';
import { PlanWriter } from '../../../src/ingest/plan/plan-file.ts';
import { finishRun } from '../../../src/sink/final-files/finish.ts';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { readChain } from '../../../src/record/log/read-chain.ts';
import { RangeReader } from '../../../src/record/log/committed-range.ts';
import { temporaryFolder } from '../../helpers/cli.ts';
import { rounds, seed } from '../../helpers/corpus.ts';
import { outcomes } from '../../helpers/run-directory.ts';
import { claim, finishWith, newRun, openPlan, problemOf, signal, work } from '../../record/run-fixture.ts';
import { planLine, resultOf, shardOf } from '../../record/shards.ts';

const SEED = seed();

const upTo = (max: number) => fc.integer({ min: 1, max });

/** Shards of random sizes whose seqs run from 0. */
const shardSizes = fc.array(upTo(5), { minLength: 1, maxLength: 8 });

function resultsOf(sizes: readonly number[]): ShardResult[] {
  let next = 0;
  const seqs = (size: number): number[] => Array.from({ length: size }, () => next++);
  return sizes.map((size, shard) => resultOf(shardOf(shard, seqs(size))));
}

/** A new run, and a writer of its log. */
async function begun() {
  const run = await newRun();
  return { run, log: await claim(run) };
}

const seqsOf = async (dir: string): Promise<number[]> => (await outcomes(dir)).map(({ seq }) => seq);

describe('the verdict log', () => {
  it('gives back what was committed, over any number of epochs and segments', async () => {
    await fc.assert(
      fc.asyncProperty(shardSizes, upTo(4), upTo(4000), async (sizes, epochs, segmentBytes) => {
        const run = await newRun();
        const results = resultsOf(sizes);
        for (let epoch = 0; epoch < epochs; epoch++) {
          const log = await claim(run, { segmentBytes });
          expect(log.epoch).toBe(epoch + 1);
          const due = results.filter((_, index) => index % epochs <= epoch);
          await Promise.all(due.map((result) => log.commit(result)));
          await log.close();
        }
        const chain = await readChain(run.dir, { signal });
        const ranges = new RangeReader(run.dir);
        for (const { shard } of results) {
          const bytes = await ranges.read(chain.commits.get(shard.shard)!);
          const lines = bytes.toString().trimEnd().split('\n');
          const seqs = lines.map((line) => (JSON.parse(line) as { seq: number }).seq);
          expect(seqs).toEqual(shard.items.map(({ seq }) => seq));
        }
        await ranges.close();
        expect(chain.commits.shards).toBe(sizes.length);
        expect(chain.commits.counts(1).items).toBe(sizes.reduce((sum, size) => sum + size, 0));
        expect(chain.endsBefore).toBeNull();
      }),
      { seed: SEED, numRuns: rounds(8) },
    );
  });

  it('torn off at any byte, is taken up again with nothing lost that was whole and nothing doubled', async () => {
    const run = await newRun();
    const results = resultsOf([2, 1, 3]);
    const log = await claim(run);
    for (const result of results) await log.commit(result);
    await log.close();
    const commits = await readFile(join(run.dir, 'log', '0001-commits.jsonl'));
    const segment = await readFile(join(run.dir, 'log', '0001-000001.jsonl'));
    const lines = commits.toString().split('\n');
    const ends = lines.slice(0, -1).flatMap((line, index) => {
      const { offset, length } = JSON.parse(line) as { offset?: number; length?: number };
      const commit = lines.slice(0, index + 1).join('\n').length + 1;
      return offset === undefined ? [] : [{ commit, segment: offset + length! }];
    });
    const recovered = async (file: string, bytes: number, expected: number): Promise<void> => {
      const dir = join(await temporaryFolder(), 'run');
      await cp(run.dir, dir, { recursive: true });
      await truncate(join(dir, 'log', file), bytes);
      const next = await claim({ dir, record: run.record });
      const found = results.filter(({ shard }) => next.isCommitted(shard.shard)).length;
      expect([file, bytes, found]).toEqual([file, bytes, expected]);
      await work(dir, next, results);
      expect(await finishRun(next, signal)).toMatchObject({ status: 'finished', items: 6 });
      await next.close();
      expect(await seqsOf(dir)).toEqual([0, 1, 2, 3, 4, 5]);
      expect(await verifyRun(dir)).toMatchObject({ ok: true });
    };
    const places = [0, 1, commits.length - 1, ends[0]!.commit, ends[1]!.commit - 1];
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: commits.length - 1 }), (cut) =>
        recovered('0001-commits.jsonl', cut, ends.filter(({ commit }) => commit <= cut).length),
      ),
      { seed: SEED, numRuns: rounds(10), examples: places.map((place) => [place]) },
    );
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: segment.length - 1 }), (cut) =>
        recovered('0001-000001.jsonl', cut, ends.filter((end) => end.segment <= cut).length),
      ),
      { seed: SEED, numRuns: rounds(6), examples: [[0], [segment.length - 1], [ends[0]!.segment]] },
    );
  });

  it('is claimed by one process at a time, whatever the race', async () => {
    const run = await newRun();
    const logs = await Promise.all(Array.from({ length: 8 }, () => claim(run)));
    expect(logs.map(({ epoch }) => epoch).sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    const result = resultOf(shardOf(0, [0, 1]));
    const attempts = await Promise.allSettled(logs.map((log) => log.commit(result)));
    for (const [index, attempt] of attempts.entries()) {
      if (logs[index]!.epoch === 8) expect(attempt.status).toBe('fulfilled');
      else expect(attempt).toMatchObject({ status: 'rejected', reason: { kind: 'superseded' } });
    }
    for (const log of logs) await log.close();
    expect((await readChain(run.dir, { signal })).commits.counts(1).items).toBe(2);
  });

  it('never loses a commit that was acknowledged to a claim that was under way', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), upTo(12), async (scheduler, shards) => {
        const run = await newRun();
        const older = await claim(run);
        const acknowledged: number[] = [];
        const commits = resultsOf(Array<number>(shards).fill(1)).map(async (result) => {
          await scheduler.schedule(Promise.resolve());
          await older.commit(result).then(
            () => acknowledged.push(result.shard.shard),
            (error: unknown) => expect(error).toMatchObject({ kind: 'superseded' }),
          );
        });
        const taking = scheduler.schedule(Promise.resolve()).then(() => claim(run));
        await scheduler.waitAll();
        const newer = await taking;
        await Promise.all(commits);
        for (const shard of acknowledged) expect(newer.isCommitted(shard)).toBe(true);
        await older.close();
        await newer.close();
      }),
      { seed: SEED, numRuns: rounds(20) },
    );
  });

  it('takes a shard once, however often it comes', async () => {
    const { run, log } = await begun();
    const result = resultOf(shardOf(0, [0, 1]));
    await Promise.all([log.commit(result), log.commit(result)]);
    await log.commit(result);
    expect(log.counts(1)).toEqual({ items: 2, errors: 0, review: 0, block: 1 });
    await log.close();
    const lines = (await readFile(join(run.dir, 'log', '0001-commits.jsonl'), 'utf8')).trimEnd().split('\n');
    expect(lines.filter((line) => line.startsWith('{"shard"')).length).toBe(1);
  });

  it('holds for void what an overtaken writer appends, before and after the run is finished', async () => {
    const { run, log: older } = await begun();
    const results = resultsOf([2, 2]);
    await older.commit(results[0]!);
    await older.close();
    const oldCommits = join(run.dir, 'log', '0001-commits.jsonl');
    const oldSegment = join(run.dir, 'log', '0001-000001.jsonl');
    const [claimed, ...chained] = (await readFile(oldCommits, 'utf8')).trimEnd().split('\n');

    const newer = await claim(run);
    const wakesUp = async (): Promise<void> => {
      await appendFile(oldSegment, 'whatever it still had\n');
      await appendFile(oldCommits, `${chained.at(-1)}\n${claimed}\n{"shard":`);
    };
    await wakesUp();
    expect(newer.isCommitted(0)).toBe(true);
    await finishWith(newer, run.dir, results);
    expect(await verifyRun(run.dir)).toMatchObject({ ok: true, items: 4 });
    await wakesUp();
    const late = { epoch: 1, ...planLine(results[1]!.shard) };
    await appendFile(join(run.dir, 'plan.jsonl'), `${encodePlanLine(late)}\n`);
    expect(await verifyRun(run.dir)).toMatchObject({ ok: true, items: 4 });
  });

  it('with the plan, ignores the other cut of a writer that wakes up after a take-over', async () => {
    const { run, log: older } = await begun();
    // The older writer has passed its check and is stopped just before it writes.
    const { epoch, diskFull } = older;
    const always = { epoch, diskFull, assertCurrent: () => Promise.resolve() };
    const sleeping = await PlanWriter.open(join(run.dir, 'plan.jsonl'), always);
    const first = shardOf(0, [0, 1]);
    await sleeping.append([planLine(first)]);
    await older.commit(resultOf(first));

    const newer = await claim(run);
    const plan = await openPlan(run.dir, newer);
    await sleeping.append([planLine(shardOf(1, [2, 4], { lane: 'chat' }))]);
    const mine = [shardOf(1, [2, 3]), shardOf(2, [4, 5], { lane: 'chat' })];
    await plan.append([planLine(mine[0]!)]);
    await sleeping.append([planLine(shardOf(2, [3])), planLine(shardOf(3, [5]))]);
    const closed = { closed: true, pass: 1, items: 6, items_by_source: [6] } as const;
    await plan.append([planLine(mine[1]!), { ...closed, shards: 3 }]);
    await sleeping.append([{ ...closed, shards: 4 }]);
    await plan.close();
    for (const shard of mine) await newer.commit(resultOf(shard));
    expect(await finishRun(newer, signal)).toMatchObject({ status: 'finished', items: 6, verdicts: 6 });
    expect(await seqsOf(run.dir)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(await verifyRun(run.dir)).toMatchObject({ ok: true, items: 6 });

    await sleeping.append([planLine(shardOf(4, [6], { pass: 2 }))]);
    await sleeping.close();
    await appendFile(join(run.dir, 'plan.jsonl'), '{"epoch":1,"sha');
    expect(await verifyRun(run.dir)).toMatchObject({ ok: true, items: 6 });
    await appendFile(join(run.dir, 'plan.jsonl'), `\n${encodePlanLine({ opened: 3 })}\n`);
    expect(await problemOf(run.dir)).toBe('plan.jsonl was continued after the run was finished');
    await older.close();
    await newer.close();
  });

  it('passes over an epoch whose claim was never written', async () => {
    const run = await newRun();
    const first = await claim(run);
    await first.commit(resultOf(shardOf(0, [0])));
    await first.close();
    await writeFile(join(run.dir, 'log', '0002-commits.jsonl'), '{"claim":2,"contin');
    const third = await claim(run);
    expect(third.epoch).toBe(3);
    expect(third.isCommitted(0)).toBe(true);
    await finishWith(third, run.dir, [resultOf(shardOf(0, [0]))]);
    expect(await verifyRun(run.dir)).toMatchObject({ ok: true });
  });

  it('lets nobody publish final files after a take-over', async () => {
    const { run, log: older } = await begun();
    await work(run.dir, older, [resultOf(shardOf(0, [0, 1]))]);
    const newer = await claim(run);
    await expect(finishRun(older, signal)).rejects.toMatchObject({ kind: 'superseded' });
    await finishRun(newer, signal);
    await older.close();
    await newer.close();
    expect((await readdir(run.dir)).filter((name) => name.startsWith('.'))).toEqual([]);
    expect(await verifyRun(run.dir)).toMatchObject({ ok: true });
  });
});
