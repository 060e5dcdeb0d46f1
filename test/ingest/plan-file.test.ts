import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PlanWriter, readPlan, type PlanWriterOptions } from '../../src/ingest/plan-file.ts';
import { type PlanLine, type PlannedShard } from '../../src/ingest/plan-line.ts';
import { Failure } from '../../src/domain/failure.ts';
import { temporaryFolder } from '../helpers/cli.ts';
import { seed } from '../helpers/corpus.ts';

const SEED = seed();
const signal = new AbortController().signal;
const OPTIONS: PlanWriterOptions = {
  diskFull: { signal, maxWaitMs: 1000, retryEveryMs: 1, report: () => undefined },
  assertCurrent: async () => undefined,
};

async function newPath(): Promise<string> {
  return join(await temporaryFolder(), 'plan.jsonl');
}

function planned(shard: number, pass = 1, more: Partial<PlannedShard> = {}): PlannedShard {
  return {
    shard,
    pass,
    lane: 'text',
    seqs: [[shard * 2, shard * 2 + 1]],
    source: 0,
    from: 1,
    to_source: 0,
    to: 2,
    items: 2,
    payload_sha256: 'ab'.repeat(32),
    ...more,
  };
}

const closing = (pass: number, shards: number): PlanLine => ({
  closed: true,
  pass,
  shards,
  items: shards * 2,
  items_by_source: [shards * 2],
});

async function read(path: string): Promise<PlanLine[]> {
  const lines: PlanLine[] = [];
  for await (const batch of readPlan(path, { signal })) lines.push(...batch);
  return lines;
}

describe('the plan', () => {
  it('is read as it was appended, by many callers at once', async () => {
    const path = await newPath();
    const plan = await PlanWriter.open(path, OPTIONS);
    const lines = Array.from({ length: 50 }, (_, shard) => planned(shard));
    await Promise.all(lines.map((line) => plan.append([line])));
    await plan.append([closing(1, 50)]);
    await plan.append([planned(50, 2, { seqs: [[4, 5]] }), closing(2, 1)]);
    expect(plan.state).toMatchObject({ shards: 51, items: 100, pass: 2, isClosed: true });
    await plan.close();
    expect(await read(path)).toEqual([
      ...lines,
      closing(1, 50),
      planned(50, 2, { seqs: [[4, 5]] }),
      closing(2, 1),
    ]);
  });

  it('torn off at any byte, goes on after its last whole line', async () => {
    const path = await newPath();
    const whole = [planned(0), planned(1), planned(2), closing(1, 3)].map(
      (line) => `${JSON.stringify(line)}\n`,
    );
    const bytes = Buffer.from(whole.join(''));
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: bytes.length }), async (cut) => {
        await writeFile(path, bytes.subarray(0, cut));
        const kept = bytes.subarray(0, cut).toString().split('\n').length - 1;
        expect(await read(path)).toHaveLength(kept);
        const plan = await PlanWriter.open(path, OPTIONS);
        expect(plan.state).toMatchObject({ shards: Math.min(kept, 3), isClosed: kept === 4 });
        await plan.append(whole.slice(kept).map((line) => JSON.parse(line) as PlanLine));
        await plan.close();
        expect(await readFile(path)).toEqual(bytes);
      }),
      { seed: SEED, numRuns: 60 },
    );
  });

  it('passes over what an overtaken writer repeats', async () => {
    const path = await newPath();
    const plan = await PlanWriter.open(path, OPTIONS);
    await plan.append([planned(0), planned(1)]);
    await appendFile(path, `${JSON.stringify(planned(0))}\n${JSON.stringify(planned(1))}\n`);
    await plan.append([planned(1), planned(2), closing(1, 3)]);
    await appendFile(path, `${JSON.stringify(closing(1, 3))}\n`);
    await plan.close();
    expect(await read(path)).toEqual([planned(0), planned(1), planned(2), closing(1, 3)]);
  });

  it('is not appended to by a writer that was overtaken', async () => {
    const path = await newPath();
    const plan = await PlanWriter.open(path, {
      ...OPTIONS,
      assertCurrent: () => Promise.reject(new Failure('superseded', 'overtaken')),
    });
    await expect(plan.append([planned(0)])).rejects.toMatchObject({ kind: 'superseded' });
    await plan.close();
    expect(await readFile(path, 'utf8')).toBe('');
  });

  it.each([
    ['a gap', [planned(1)], 'line 1 plans shard 1, but 0 comes next'],
    [
      'another count of items',
      [planned(0, 1, { items: 3 })],
      'line 1 names another number of items than of seqs',
    ],
    [
      'seqs that go back',
      [planned(0), planned(1, 1, { seqs: [[1, 2]] })],
      'line 2 has seqs that do not ascend',
    ],
    ['false totals', [planned(0), closing(1, 2)], 'line 2 closes pass 1 with totals that are not those'],
    ['a pass begun before the last is closed', [planned(0), planned(1, 2)], 'line 2 belongs to pass 2'],
    [
      'a shard after the end of its pass',
      [planned(0), closing(1, 1), planned(1)],
      'line 3 belongs to pass 1',
    ],
    ['anything else', [{ other: true } as unknown as PlanLine], 'line 1 is damaged'],
  ])('is refused with %s', async (_, lines, message) => {
    const path = await newPath();
    await writeFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const expected = {
      kind: 'internal',
      message: expect.stringContaining(`plan.jsonl ${message}`) as string,
    };
    await expect(read(path)).rejects.toMatchObject(expected);
    await expect(PlanWriter.open(path, OPTIONS)).rejects.toMatchObject(expected);
  });

  it('that does not exist is empty', async () => {
    expect(await read(await newPath())).toEqual([]);
  });
});
