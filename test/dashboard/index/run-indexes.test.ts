import { appendFile, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ITEM_QUERY } from '../../../src/dashboard/api/items.ts';
import { RunIndexes } from '../../../src/dashboard/index/run-indexes.ts';
import { temporaryFolder } from '../../helpers/cli.ts';
import { finishRun } from '../../../src/sink/final-files/finish.ts';
import {
  claim,
  closingOf,
  failed,
  finishedRun,
  newRun,
  openPlan,
  planLine,
  resultOf,
  shardOf,
  signal,
} from '../../record/run-fixture.ts';

const ALL = ITEM_QUERY.parse({ sort: 'corpus', limit: 500 });

function opened(options: ConstructorParameters<typeof RunIndexes>[0] = {}): RunIndexes {
  const indexes = new RunIndexes({ patienceMs: 60_000, ...options });
  onTestFinished(() => indexes.close());
  return indexes;
}

function seqs(count: number): number[] {
  return Array.from({ length: count }, (_, seq) => seq);
}

function smallRun(count = 6) {
  return finishedRun([resultOf(shardOf(0, seqs(count)))], { name: `r${count}` });
}

/** Seqs of a run's items, and whether it has gone on since. */
async function listed(indexes: RunIndexes, dir: string): Promise<{ seqs: number[]; stale: boolean }> {
  const { index, stale, release } = await indexes.patientLease(dir, signal);
  const { rows } = await index.page(ALL, signal);
  release();
  return { seqs: rows.map(({ seq }) => seq), stale };
}

describe('the index of a finished run', () => {
  it('is built once for all who ask, and then kept', async () => {
    const { dir } = await smallRun();
    const indexes = opened();
    const leases = await Promise.all(Array.from({ length: 10 }, () => indexes.patientLease(dir, signal)));
    expect(new Set(leases.map(({ index }) => index)).size).toBe(1);
    const again = await indexes.patientLease(dir, signal);
    expect(again.index).toBe(leases[0]!.index);
    expect(again.stale).toBe(false);
    for (const { release } of [...leases, again]) release();
  });

  it('answers a hundred queries at once, and those that are cancelled with the reason', async () => {
    const { dir } = await smallRun();
    const indexes = opened();
    const { index, release } = await indexes.patientLease(dir, signal);
    const gone = new AbortController();
    const pages = Array.from({ length: 100 }, (_, number) =>
      index.page(ALL, number % 4 === 3 ? gone.signal : signal).then(({ total }) => total),
    );
    gone.abort(new Error('the client is gone'));
    const settled = await Promise.allSettled(pages);
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(75);
    for (const each of settled) {
      if (each.status === 'rejected') expect(String(each.reason)).toBe('Error: the client is gone');
      else expect(each.value).toBe(6);
    }
    expect((await index.page(ALL, signal)).total).toBe(6);
    release();
  });

  it('is refused when the outcomes are not those of the manifest, and each time they are changed', async () => {
    const { dir } = await smallRun();
    const indexes = opened();
    const path = join(dir, 'verdicts.jsonl');
    const text = await readFile(path, 'utf8');
    expect((await listed(indexes, dir)).seqs).toHaveLength(6);
    await writeFile(path, text.replace('"decision":"allow"', '"decision":"block"'));
    await expect(listed(indexes, dir)).rejects.toThrow('verdicts.jsonl does not have');
    await writeFile(path, `${text}\n`);
    await expect(listed(indexes, dir)).rejects.toThrow(/^verdicts.jsonl has \d+ bytes, but had/);
    await writeFile(path, text);
    expect((await listed(indexes, dir)).seqs).toHaveLength(6);
  });

  it('leaves nothing behind', async () => {
    const { dir } = await smallRun();
    vi.stubEnv('TMPDIR', await temporaryFolder());
    onTestFinished(() => void vi.unstubAllEnvs());
    const indexes = new RunIndexes({ patienceMs: 60_000 });
    await listed(indexes, dir);
    const [folder] = await readdir(tmpdir());
    expect((await stat(join(tmpdir(), folder!))).mode & 0o777).toBe(0o700);
    await indexes.close();
    expect(await readdir(tmpdir())).toEqual([]);
    await expect(indexes.patientLease(dir, signal)).rejects.toThrow('the dashboard ends');
  });
});

describe('indexes', () => {
  it('are closed when others were used more lately, but not while they are in use', async () => {
    const runs = [await smallRun(3), await smallRun(4), await smallRun(5)];
    const [a, b, c] = runs.map(({ dir }) => dir) as [string, string, string];
    const indexes = opened({ maxOpen: 2 });
    const first = await indexes.patientLease(a, signal);
    await listed(indexes, b);
    await listed(indexes, c);
    expect((await first.index.page(ALL, signal)).total).toBe(3);
    first.release();
    const second = await indexes.patientLease(a, signal);
    expect(second.index).not.toBe(first.index);
    await expect(first.index.page(ALL, signal)).rejects.toThrow();
    second.release();
  });

  it('tell how far they are to those who do not wait, and go on', async () => {
    const { dir } = await smallRun();
    const indexes = opened({ patienceMs: 0 });
    for (let told = 0; ; told++) {
      const asked = await indexes.lease(dir, signal);
      if ('index' in asked) {
        asked.release();
        expect(told).toBeGreaterThan(0);
        return;
      }
      expect(asked.indexing).toBeGreaterThanOrEqual(0);
      expect(asked.indexing).toBeLessThanOrEqual(1);
    }
  });

  it('are given up when nobody waits any more, and built again when somebody asks', async () => {
    const { dir } = await smallRun();
    const indexes = opened({ patienceMs: 0, abandonedMs: 0 });
    expect(await indexes.lease(dir, signal)).toEqual({ indexing: 0 });
    await new Promise((resolve) => setTimeout(resolve, 20));
    const gone = AbortSignal.abort(new Error('the client is gone'));
    await expect(indexes.lease(dir, gone)).rejects.toThrow('the client is gone');
  });
});

describe('the index of a run that goes on', () => {
  it('holds what was committed when it was built, says so, and is built again', async () => {
    const run = await newRun();
    const log = await claim(run);
    const results = [
      resultOf(shardOf(0, [0, 1])),
      resultOf(shardOf(1, [2, 3]), () => failed('TIMEOUT')),
      resultOf(shardOf(2, [4])),
    ];
    const plan = await openPlan(run.dir, log);
    await plan.append(results.map(({ shard }) => planLine(shard)));
    await log.commit(results[1]!);
    const indexes = opened({ refreshMs: 0, refreshFactor: 0 });
    expect(await listed(indexes, run.dir)).toEqual({ seqs: [2, 3], stale: false });
    await log.commit(results[0]!);
    const later = await listed(indexes, run.dir);
    expect(later).toEqual({ seqs: [2, 3], stale: true });
    await expect
      .poll(() => listed(indexes, run.dir), { interval: 20, timeout: 30_000 })
      .toEqual({
        ...{ seqs: [0, 1, 2, 3], stale: false },
      });
    await log.commit(results[2]!);
    await plan.append([closingOf(log.record, 1, results)]);
    await plan.close();
    await finishRun(log, signal, {});
    await log.close();
    await expect
      .poll(() => listed(indexes, run.dir), { interval: 20, timeout: 30_000 })
      .toEqual({
        ...{ seqs: [0, 1, 2, 3, 4], stale: false },
      });
  });

  it('is refused when its log does not hold', async () => {
    const run = await newRun();
    const log = await claim(run);
    const results = [resultOf(shardOf(0, [0, 1]))];
    const plan = await openPlan(run.dir, log);
    await plan.append(results.map(({ shard }) => planLine(shard)));
    await plan.close();
    await log.commit(results[0]!);
    await log.close();
    const segment = join(run.dir, 'log', '0001-000001.jsonl');
    await writeFile(segment, (await readFile(segment, 'utf8')).replace('0.07', '0.77'));
    const indexes = opened();
    await expect(listed(indexes, run.dir)).rejects.toThrow('differ from those that were committed');
  });
});

it('reviews of other processes are found', async () => {
  const { dir } = await smallRun();
  const [a, b] = [opened(), opened()];
  const [mine, other] = [await a.patientLease(dir, signal), await b.patientLease(dir, signal)];
  const [line] = await other.index.lines.read([3]);
  await other.index.reviews.add(line!, { decision: 'allow', categories: ['hate'], note: 'a joke' });
  const open = ITEM_QUERY.parse({ filter: { review: 'overturned' } });
  expect((await mine.index.page(open, signal)).rows).toMatchObject([
    { seq: 3, review: { decision: 'allow', agrees: false } },
  ]);
  await other.index.reviews.add(line!, { decision: null, categories: null, note: '' });
  expect((await mine.index.page(open, signal)).rows).toEqual([]);
  expect((await mine.index.item(3, signal))!.reviews).toMatchObject([
    { decision: 'allow', note: 'a joke', categories: ['hate'] },
    { decision: null },
  ]);
  await appendFile(join(dir, 'review', 'reviews.jsonl'), 'torn');
  expect((await mine.index.page(open, signal)).rows).toEqual([]);
  mine.release();
  other.release();
  await rm(join(dir, 'review'), { recursive: true });
  await expect(mine.index.page(open, signal)).rejects.toThrow('review/reviews.jsonl has become shorter');
});
