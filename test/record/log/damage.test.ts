import { createHash } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { RunRecord } from '../../../src/config/run-config.ts';
import { Failure } from '../../../src/domain/failure.ts';
import type { ShardResult } from '../../../src/domain/shard.ts';
import { finishRun } from '../../../src/sink/final-files/finish.ts';
import { readManifest } from '../../../src/record/manifest/manifest.ts';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { RangeReader } from '../../../src/record/log/committed-range.ts';
import type { LogWriter } from '../../../src/sink/verdict-log/log-writer.ts';
import { seed } from '../../helpers/corpus.ts';
import { outcomes } from '../../helpers/run-directory.ts';
import { claim, newRun, openPlan, planLine, resultOf, shardOf, signal, work } from '../run-fixture.ts';

const SEED = seed();
const SHARDS = 6;
const ITEMS = 2;

const results = (): ShardResult[] =>
  Array.from({ length: SHARDS }, (_, shard) => resultOf(shardOf(shard, [2 * shard, 2 * shard + 1])));

interface Run {
  readonly dir: string;
  readonly record: RunRecord;
}

/** A run whose shards were planned by the first epoch, and all committed, half of them by each of two. */
async function committed(): Promise<Run> {
  const run = await newRun();
  const first = await claim(run);
  const plan = await openPlan(run.dir, first);
  await plan.append(results().map(({ shard }) => planLine(shard)));
  for (const result of results().slice(0, 3)) await first.commit(result);
  await first.close();
  const second = await claim(run);
  for (const result of results().slice(3)) await second.commit(result);
  await second.close();
  await plan.close();
  return run;
}

/** Takes the run over and brings it to its end; gives what was said, and how many shards were still committed. */
async function finished(run: Run): Promise<{ said: string[]; kept: number; log: LogWriter }> {
  const said: string[] = [];
  const log = await claim(run, { report: (line) => said.push(line) });
  const kept = results().filter(({ shard }) => log.isCommitted(shard.shard)).length;
  await work(run.dir, log, results());
  await finishRun(log, signal);
  await log.close();
  expect((await outcomes(run.dir)).map(({ seq }) => seq)).toEqual(
    Array.from({ length: SHARDS * ITEMS }, (_, seq) => seq),
  );
  return { said, kept, log };
}

async function flip(path: string, bit: number): Promise<{ byte: number; size: number }> {
  const bytes = await readFile(path);
  const byte = Math.floor(bit / 8) % bytes.length;
  bytes[byte]! ^= 1 << (bit % 8);
  await writeFile(path, bytes);
  return { byte, size: bytes.length };
}

async function changeLastLine(path: string, what: string | RegExp, by: string): Promise<void> {
  const text = await readFile(path, 'utf8');
  const at = text.trimEnd().lastIndexOf('\n') + 1;
  const changed = text.slice(at).replace(what, by);
  expect(changed).not.toBe(text.slice(at));
  await writeFile(path, text.slice(0, at) + changed);
}

/** The lines of a file without their checks; where each names the one before, it still does. */
async function withoutChecks(path: string): Promise<void> {
  let prev = '';
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
  const bare = lines.map((line) => {
    const value = JSON.parse(line) as Record<string, unknown>;
    delete value['check'];
    const text = JSON.stringify('prev' in value ? { ...value, prev } : value);
    prev = createHash('sha256').update(text).digest('hex');
    return `${text}\n`;
  });
  await writeFile(path, bare.join(''));
}

describe('a damaged verdict log', () => {
  it.each(['0002-commits.jsonl', '0001-000001.jsonl', '0002-000001.jsonl'])(
    'with any bit of %s flipped says and records what is lost, and the run is finished',
    async (file) => {
      await fc.assert(
        fc.asyncProperty(fc.nat(100_000), async (bit) => {
          const run = await committed();
          const path = join(run.dir, 'log', file);
          const { byte, size } = await flip(path, bit);
          // A file that lacks its last newline is what a crash leaves.
          const isTorn = file.endsWith('commits.jsonl') && byte === size - 1;
          const taken = await finished(run);
          const report = await verifyRun(run.dir);
          const lost = (SHARDS - taken.kept) * ITEMS;
          if (isTorn) return;
          expect(lost).toBeGreaterThan(0);
          expect(taken.said).toEqual([expect.stringContaining(`is damaged: ${lost} committed outcome`)]);
          expect(report).toMatchObject({ ok: true, lostToDamage: lost });
          expect(taken.said[0]).toContain(`log/${file} `);
          expect((await readManifest(run.dir)).damage).toMatchObject([{ epoch: 3, outcomes: lost }]);
        }),
        { seed: SEED, numRuns: 8, examples: [[8 * 20], [8 * 300], [8 * 1200]] },
      );
    },
  );

  it.each([
    ['a shard that is planned and open', 4],
    ['a shard that is committed already', 0],
    ['a shard that is not planned', 9],
  ])('whose newest commit was changed to name %s loses that one', async (_, shard) => {
    const run = await newRun();
    const log = await claim(run);
    const plan = await openPlan(run.dir, log);
    await plan.append(results().map(({ shard }) => planLine(shard)));
    await plan.close();
    for (const result of results().slice(0, 4)) await log.commit(result);
    await log.close();
    await changeLastLine(join(run.dir, 'log', '0001-commits.jsonl'), '"shard":3', `"shard":${shard}`);
    const { said, kept } = await finished(run);
    expect(kept).toBe(3);
    expect(said).toEqual([
      'log/0001-commits.jsonl line 6 is damaged: 2 committed outcomes are lost, and made again',
    ]);
    expect(await verifyRun(run.dir)).toMatchObject({ ok: true, lostToDamage: 2 });
  });

  it('whose newest commit names another time loses that one', async () => {
    const run = await committed();
    await changeLastLine(join(run.dir, 'log', '0002-commits.jsonl'), /"at":"20/, '"at":"2x');
    expect(await finished(run)).toMatchObject({ kept: SHARDS - 1 });
    expect(await verifyRun(run.dir)).toMatchObject({ ok: true, lostToDamage: ITEMS });
  });

  it.each(['head', 'lines'])('whose newest claim has a digit of `%s` changed is continued', async (name) => {
    const run = await committed();
    const path = join(run.dir, 'log', '0002-commits.jsonl');
    const text = await readFile(path, 'utf8');
    const changed = text.replace(new RegExp(`("${name}":"?)(.)`), (_, key: string, digit: string) => {
      return `${key}${digit === '1' ? '2' : '1'}`;
    });
    expect(changed).not.toBe(text);
    await writeFile(path, changed);
    const { said, kept } = await finished(run);
    expect(kept).toBe(3);
    expect(said).toEqual([expect.stringContaining('log/0002-commits.jsonl line 1 is damaged: 6 committed')]);
    expect(await verifyRun(run.dir)).toMatchObject({ ok: true, lostToDamage: 3 * ITEMS });
  });

  it('whose lines have no checks is damaged', async () => {
    const run = await committed();
    await withoutChecks(join(run.dir, 'log/0002-commits.jsonl'));
    const { kept } = await finished(run);
    expect(kept).toBe(3);
    expect(await verifyRun(run.dir)).toMatchObject({ ok: true, lostToDamage: 3 * ITEMS });
  });

  it('that was torn off in a line has lost nothing', async () => {
    const run = await committed();
    const path = join(run.dir, 'log', '0002-commits.jsonl');
    await writeFile(path, `${await readFile(path, 'utf8')}{"shard":9,"pass":1,`);
    expect(await finished(run)).toMatchObject({ said: [], kept: SHARDS });
    expect(await verifyRun(run.dir)).toMatchObject({ ok: true, lostToDamage: 0 });
  });

  it('judges shards again that a damaged plan does not name any more', async () => {
    const run = await committed();
    const path = join(run.dir, 'plan.jsonl');
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
    await writeFile(path, `${lines.slice(0, -1).join('\n')}\n#${lines.at(-1)}\n`);
    const { said, kept } = await finished(run);
    expect(kept).toBe(SHARDS - 1);
    expect(said).toEqual(['plan.jsonl is damaged: 2 committed outcomes are lost, and made again']);
    expect(await verifyRun(run.dir)).toMatchObject({ ok: true, lostToDamage: 2 });
  });

  it('names a line of the plan that is damaged when others follow it', async () => {
    const run = await committed();
    const path = join(run.dir, 'plan.jsonl');
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
    await writeFile(path, `${lines.map((line, index) => (index === 3 ? `#${line}` : line)).join('\n')}\n`);
    await expect(claim(run)).rejects.toMatchObject({
      kind: 'internal',
      message: expect.stringContaining('plan.jsonl line 4 is damaged') as string,
    });
  });

  it.each(['log', 'log/0001-commits.jsonl'])('is not begun anew when %s is gone', async (name) => {
    const run = await newRun();
    const log = await claim(run);
    await work(run.dir, log, results());
    await log.close();
    await rm(join(run.dir, name), { recursive: true });
    await expect(claim(run)).rejects.toMatchObject({
      kind: 'internal',
      message: expect.stringContaining('log/0001-commits.jsonl is missing') as string,
    });
  });

  it.each(['0001', '0002'])('is not continued when the commits of epoch %s are gone', async (epoch) => {
    // As sinks do it: the plan was opened by the first epoch only.
    const run = await committed();
    await rm(join(run.dir, 'log', `${epoch}-commits.jsonl`));
    await expect(claim(run)).rejects.toMatchObject({
      kind: 'internal',
      message: expect.stringContaining(`log/${epoch}-commits.jsonl is missing`) as string,
    });
  });
});

it('says once that checking a large log takes long, and stops between two ranges', async () => {
  const run = await committed();
  const stop = new AbortController();
  const said: string[] = [];
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const holds = vi.spyOn(RangeReader.prototype, 'holds').mockImplementationOnce(async () => {
      vi.advanceTimersByTime(10_000);
      stop.abort();
      return true;
    });
    await expect(
      claim(run, { signal: stop.signal, report: (line) => said.push(line) }),
    ).rejects.toMatchObject({ name: 'AbortError' });
    expect(holds).toHaveBeenCalledTimes(1);
    holds.mockRestore();
  } finally {
    vi.useRealTimers();
  }
  expect(said).toEqual([expect.stringContaining('Checking the committed outcomes')]);
});

describe('who was overtaken', () => {
  const broken = (): Failure => new Failure('internal', 'what another one writes does not fit');

  it('says so of a claim, whatever it made of what the later one wrote', async () => {
    const run = await committed();
    vi.spyOn(RangeReader.prototype, 'holds').mockImplementationOnce(async () => {
      await (await claim(run)).close();
      throw broken();
    });
    await expect(claim(run)).rejects.toMatchObject({ kind: 'superseded' });
  });

  it('says so of an end, whatever it made of what the later one wrote', async () => {
    const run = await newRun();
    const log = await claim(run);
    await work(run.dir, log, results());
    vi.spyOn(RangeReader.prototype, 'read').mockImplementationOnce(async () => {
      await (await claim(run)).close();
      throw broken();
    });
    await expect(finishRun(log, signal)).rejects.toMatchObject({ kind: 'superseded' });
    await log.close();
  });
});
