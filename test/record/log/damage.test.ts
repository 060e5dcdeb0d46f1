import { hash } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Failure } from '../../../src/domain/failure.ts';
import type { ShardResult } from '../../../src/domain/shard.ts';
import { finishRun } from '../../../src/sink/final-files/finish.ts';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { RangeReader } from '../../../src/record/log/committed-range.ts';
import { rounds, seed } from '../../helpers/corpus.ts';
import { outcomes } from '../../helpers/run-directory.ts';
import { claim, finishWith, newRun, openPlan, signal, type TestRun, work } from '../run-fixture.ts';
import { planLine, resultOf, shardOf } from '../shards.ts';
import { change } from '../reseal.ts';

const SEED = seed();
const SHARDS = 6;
const ITEMS = 2;

const results = (): ShardResult[] =>
  Array.from({ length: SHARDS }, (_, shard) => resultOf(shardOf(shard, [2 * shard, 2 * shard + 1])));

/** A run whose shards were planned by the first epoch, and all committed, half of them by each of two. */
async function committed(): Promise<TestRun> {
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

/** The failure that a new writer meets. */
async function refusal(run: TestRun): Promise<string> {
  const failure: unknown = await claim(run).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(Failure);
  const remedy = /; restore it or start a new run: what was judged is reused from the store$/;
  expect(failure).toMatchObject({ kind: 'internal', message: expect.stringMatching(remedy) as string });
  return (failure as Failure).message.split('; restore it')[0]!;
}

/** Takes the run over, brings it to its end, and verifies it. Returns how many shards were still committed. */
async function finished(run: TestRun): Promise<number> {
  const log = await claim(run);
  const kept = results().filter(({ shard }) => log.isCommitted(shard.shard)).length;
  await finishWith(log, run.dir, results());
  const seqs = (await outcomes(run.dir)).map(({ seq }) => seq);
  expect(seqs).toEqual([...Array(SHARDS * ITEMS).keys()]);
  expect(await verifyRun(run.dir)).toMatchObject({ ok: true });
  return kept;
}

/** Lines without their checks; where each names the one before, it still does. */
function withoutChecks(text: string): string {
  let prev = '';
  return text.replaceAll(/.+/g, (line) => {
    const value = JSON.parse(line) as Record<string, unknown>;
    delete value['check'];
    const bare = JSON.stringify('prev' in value ? { ...value, prev } : value);
    prev = hash('sha256', bare);
    return bare;
  });
}

const otherDigit = (name: string) => (text: string) =>
  text.replace(new RegExp(`(?<="${name}":"?).`), (digit) => (digit === '1' ? '2' : '1'));

const damagedLine = (index: number) => (text: string) => {
  const damaged = text.trimEnd().split('\n').at(index)!;
  return text.replace(damaged, `#${damaged}`);
};

describe('a damaged verdict log', () => {
  it.each(['0001-commits.jsonl', '0002-commits.jsonl', '0001-000001.jsonl', '0002-000001.jsonl'])(
    'with any bit of %s flipped stops a new writer with the place; restored, nothing is lost',
    async (file) => {
      await fc.assert(
        fc.asyncProperty(fc.nat(100_000), async (bit) => {
          const run = await committed();
          const path = join(run.dir, 'log', file);
          const sound = await readFile(path);
          const byte = Math.floor(bit / 8) % sound.length;
          // A file that lacks its last newline is what a crash leaves.
          if (file === '0002-commits.jsonl' && byte === sound.length - 1) return;
          await writeFile(path, sound.with(byte, sound[byte]! ^ (1 << (bit % 8))));
          expect(await refusal(run)).toContain(`log/${file}`);
          await writeFile(path, sound);
          expect(await finished(run)).toBe(SHARDS);
        }),
        { seed: SEED, numRuns: rounds(8), examples: [[8 * 20], [8 * 300], [8 * 1200]] },
      );
    },
  );

  /** A line whose zeros end where a page does, or `besides` so many bytes later, and a line after it. */
  const withHole = (text: string, besides = 0): string => {
    const start = `${text}{"shard":9,`;
    const zeros = 4096 - (Buffer.byteLength(start) % 4096) + besides;
    return `${start}${'\0'.repeat(zeros)}"at":0}\n{"shard":10}\n`;
  };

  const NEWEST = 'log/0002-commits.jsonl';
  const PLAN = 'plan.jsonl';
  const withZeros = (text: string) => text.replace(/(?<=\n.{20}).{30}/, '\0'.repeat(30));
  const BROKEN_CLAIM = /^log\/0002-commits\.jsonl line 1 does not follow/;
  const BROKEN_LINE = /^log\/0002-commits\.jsonl line \d+ does not follow/;
  it.each<[string, string, (text: string) => string, RegExp]>([
    ['lines without checks', NEWEST, withoutChecks, BROKEN_CLAIM],
    ['another head in its newest claim', NEWEST, otherDigit('head'), BROKEN_CLAIM],
    ['another position in its newest claim', NEWEST, otherDigit('lines'), BROKEN_CLAIM],
    ['a plan whose last shard is damaged', PLAN, damagedLine(-1), /commits shard 5, which is not planned$/],
    ['a plan with a damaged line before others', PLAN, damagedLine(3), /^plan.jsonl line 4 is damaged/],
    ['a hole that is no page', NEWEST, (text) => withHole(text, 1), BROKEN_LINE],
    ['a hole before lines that were acknowledged', NEWEST, withZeros, BROKEN_LINE],
  ])('with %s is not continued', async (_, file, by, expected) => {
    const run = await committed();
    await change(join(run.dir, file), by);
    expect(await refusal(run)).toMatch(expected);
  });

  it('that ends in a hole where a page of the last write is missing has lost nothing', async () => {
    const run = await committed();
    await change(join(run.dir, NEWEST), (text) => withHole(text));
    expect(await finished(run)).toBe(SHARDS);
  });

  it.each([
    ['log', '0001'],
    ['log/0001-commits.jsonl log/0002-commits.jsonl', '0001'],
    ['log/0001-commits.jsonl', '0001'],
    ['log/0002-commits.jsonl', '0002'],
  ])('is neither continued nor begun anew when %s is gone', async (names, epoch) => {
    // As sinks do it: the plan was opened by the first epoch only.
    const run = await committed();
    for (const name of names.split(' ')) await rm(join(run.dir, name), { recursive: true });
    expect(await refusal(run)).toBe(`log/${epoch}-commits.jsonl is missing`);
  });
});

it('says once that checking a large log takes long, and stops between two ranges', async () => {
  const run = await committed();
  const stop = new AbortController();
  const said: string[] = [];
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const read = vi.spyOn(RangeReader.prototype, 'read').mockImplementationOnce(async () => {
    vi.advanceTimersByTime(10_000);
    stop.abort();
    return Buffer.alloc(0);
  });
  onTestFinished(() => read.mockRestore());
  const claiming = claim(run, { signal: stop.signal, report: (line) => said.push(line) });
  await expect(claiming).rejects.toMatchObject({ name: 'AbortError' });
  expect(read).toHaveBeenCalledTimes(1);
  expect(said).toEqual([expect.stringContaining('Checking the committed outcomes')]);
});

describe('who was overtaken says so, whatever it made of what the later one wrote:', () => {
  const overtake = (run: TestRun): void =>
    void vi.spyOn(RangeReader.prototype, 'read').mockImplementationOnce(async () => {
      await (await claim(run)).close();
      throw new Failure('internal', 'what another one writes does not fit');
    });

  it('of a claim', async () => {
    const run = await committed();
    overtake(run);
    await expect(claim(run)).rejects.toMatchObject({ kind: 'superseded' });
  });

  it('of an end', async () => {
    const run = await newRun();
    const log = await claim(run);
    await work(run.dir, log, results());
    overtake(run);
    await expect(finishRun(log, signal)).rejects.toMatchObject({ kind: 'superseded' });
    await log.close();
  });
});
