import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PlanFileLine, PlanLine, PlannedShard } from '../../../src/ingest/plan/plan-line.ts';
import { encodePlanLine } from '../../../src/ingest/plan/plan-line.ts';
import { PlanWriter, readPlan, type PlanWriterOptions } from '../../../src/ingest/plan/plan-file.ts';
import { Failure } from '../../../src/domain/failure.ts';
import { temporaryFolder } from '../../helpers/cli.ts';
import { rounds, seed } from '../../helpers/corpus.ts';
import { planLine, shardOf } from '../../record/shards.ts';

const SEED = seed();
const signal = new AbortController().signal;
const OPTIONS: PlanWriterOptions = {
  epoch: 1,
  diskFull: { signal, maxWaitMs: 1000, retryEveryMs: 1, report: () => undefined },
  assertCurrent: async () => undefined,
};

const newPath = async (): Promise<string> => join(await temporaryFolder(), 'plan.jsonl');

const planned = (shard: number, pass = 1, more: Partial<PlannedShard> = {}): PlannedShard => ({
  ...planLine(shardOf(shard, [shard * 2, shard * 2 + 1], { pass })),
  ...more,
});

function closing(pass: number, shards: number): PlanLine {
  const items = shards * 2;
  return { closed: true, pass, shards, items, items_by_source: [items] };
}

/** Lines as a writer puts them, its opening first. */
const written = (epoch: number, lines: readonly PlanLine[]): string =>
  [{ opened: epoch }, ...lines.map((line) => ({ epoch, ...line }))]
    .map((line: PlanFileLine) => `${encodePlanLine(line)}\n`)
    .join('');

async function read(path: string): Promise<PlanLine[]> {
  const lines: PlanLine[] = [];
  for await (const batch of readPlan(path, { signal })) lines.push(...batch);
  return lines;
}

describe('the plan', () => {
  it('is refused when a line is not as it was written', async () => {
    const path = await newPath();
    const text = written(1, [planned(0), planned(1)]);
    for (const [from, to] of [
      ['"source":0', '"source":1'],
      ['"opened":1', '"opened":2'],
      ['"check":"', '"check":"0'],
      ['"items":2', '"items": 2'],
    ] as const) {
      const changed = text.replace(from, to);
      expect(changed).not.toBe(text);
      await writeFile(path, changed);
      await expect(read(path)).rejects.toThrow(/^plan\.jsonl line [12] is damaged$/);
    }
  });

  it('is read as it was appended, by many callers at once', async () => {
    const path = await newPath();
    const plan = await PlanWriter.open(path, OPTIONS);
    const lines = Array.from({ length: 50 }, (_, shard) => planned(shard));
    await Promise.all(lines.map((line) => plan.append([line])));
    const rest = [closing(1, 50), planned(50, 2, { seqs: [[4, 5]] }), closing(2, 1)];
    await plan.append(rest);
    expect(plan.state).toMatchObject({ shards: 51, items: 100, pass: 2, isClosed: true });
    await plan.close();
    expect(await read(path)).toEqual([...lines, ...rest]);
  });

  it('torn off at any byte, goes on after its last whole line and changes nothing that is there', async () => {
    const path = await newPath();
    const lines = [planned(0), planned(1), planned(2), closing(1, 3)];
    const bytes = Buffer.from(written(1, lines));
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: bytes.length }), async (cut) => {
        const there = bytes.subarray(0, cut);
        await writeFile(path, there);
        const whole = there.toString().split('\n').length - 2;
        expect(await read(path)).toEqual(lines.slice(0, Math.max(0, whole)));
        const plan = await PlanWriter.open(path, { ...OPTIONS, epoch: 2 });
        expect(plan.state.shards).toBeGreaterThanOrEqual(Math.min(whole, 3));
        await plan.append(lines);
        await plan.close();
        expect(await read(path)).toEqual(lines);
        expect((await readFile(path)).subarray(0, cut)).toEqual(there);
      }),
      { seed: SEED, numRuns: rounds(60), examples: [[0], [1], [bytes.length - 1], [bytes.length]] },
    );
  });

  it('is read alike by all, however writers overtake each other and wake up again', async () => {
    const size = fc.integer({ min: 1, max: 4 });
    const open = fc.record({ do: fc.constant('open' as const), together: fc.boolean() });
    const plan = fc.record({
      do: fc.constant('plan' as const),
      writer: fc.nat(),
      sizes: fc.array(size, { minLength: 1, maxLength: 3 }),
    });
    const tear = fc.record({ do: fc.constant('tear' as const), at: fc.nat() });
    const step = fc.oneof({ weight: 2, arbitrary: open }, { weight: 5, arbitrary: plan }, tear);
    const steps = fc.array(step, { minLength: 3, maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(steps, async (actions) => {
        const path = await newPath();
        const writers: PlanWriter[] = [];
        /** What each writer found and what it has appended: its own view of the plan. */
        const views: PlanLine[][] = [];
        const waiting: Promise<unknown>[] = [];
        const openNext = async (): Promise<void> => {
          const epoch = writers.length + 1;
          const opened = await PlanWriter.open(path, { ...OPTIONS, epoch });
          const found = await read(path);
          expect(opened.state).toMatchObject({ epoch, shards: found.length });
          // Nothing that was planned before is lost, whatever older writers appended meanwhile.
          expect(found.slice(0, views.at(-1)?.length ?? 0)).toEqual(views.at(-1) ?? []);
          writers.push(opened);
          views.push(found);
        };
        await openNext();
        for (const action of actions) {
          if (action.do === 'open') {
            if (!action.together) await Promise.all(waiting.splice(0));
            await openNext();
            continue;
          }
          if (action.do === 'tear') {
            // Half a write of a writer that was overtaken, on a disk that was full at that moment.
            const torn = written(1, [planned(0)]).split('\n')[1]!;
            await appendFile(path, torn.slice(0, 1 + (action.at % (torn.length - 1))));
            continue;
          }
          const index = action.writer % writers.length;
          const lines: PlannedShard[] = [];
          let { shards, items } = writers[index]!.state;
          for (const size of action.sizes) {
            const seqs = [[items, items + size - 1]] as const;
            lines.push(planned(shards++, 1, { seqs, items: size }));
            items += size;
          }
          const appended = writers[index]!.append(lines);
          if (index < writers.length - 1) waiting.push(appended);
          else {
            await appended;
            views[index]!.push(...lines);
          }
        }
        await Promise.all(waiting);
        for (const writer of writers) await writer.close();
        expect(await read(path)).toEqual(views.at(-1));
        const last = await PlanWriter.open(path, { ...OPTIONS, epoch: writers.length + 1 });
        expect(last.state.shards).toBe(views.at(-1)!.length);
        expect(last.state.items).toBe(writers.at(-1)!.state.items);
        await last.close();
      }),
      { seed: SEED, numRuns: rounds(60) },
    );
  });

  it('is neither opened nor appended to by a writer that was overtaken', async () => {
    const path = await newPath();
    let overtaken = false;
    const assertCurrent = (): Promise<void> =>
      overtaken ? Promise.reject(new Failure('superseded', 'overtaken')) : Promise.resolve();
    const plan = await PlanWriter.open(path, { ...OPTIONS, assertCurrent });
    overtaken = true;
    await expect(plan.append([planned(0)])).rejects.toMatchObject({ kind: 'superseded' });
    await plan.close();
    const opening = PlanWriter.open(path, { ...OPTIONS, assertCurrent });
    await expect(opening).rejects.toMatchObject({ kind: 'superseded' });
    expect(await readFile(path, 'utf8')).toBe(written(1, []));
  });

  it('is not opened below an epoch that has opened it', async () => {
    const path = await newPath();
    await (await PlanWriter.open(path, { ...OPTIONS, epoch: 2 })).close();
    await expect(PlanWriter.open(path, OPTIONS)).rejects.toMatchObject({ kind: 'superseded' });
    const plan = await PlanWriter.open(path, { ...OPTIONS, epoch: 3 });
    expect(plan.state).toMatchObject({ epoch: 3, shards: 0 });
    await plan.close();
  });

  it.each<[string, readonly unknown[], number]>([
    ['a gap', [planned(1)], 2],
    ['another count of items', [planned(0, 1, { items: 3 })], 2],
    ['seqs that go back', [planned(0), planned(1, 1, { seqs: [[1, 2]] })], 3],
    ['false totals', [planned(0), closing(1, 2)], 3],
    ['a pass begun before the last is closed', [planned(0), planned(1, 2)], 3],
    ['a shard after the end of its pass', [planned(0), closing(1, 1), planned(1)], 4],
    ['an epoch that never opened it', [{ ...planned(0), epoch: 2 }], 2],
    ['anything else', [{ other: true }], 2],
  ])('is refused with %s', async (_, lines, line) => {
    const path = await newPath();
    await writeFile(path, written(1, lines as PlanLine[]));
    const message = expect.stringContaining(`plan.jsonl line ${line} `) as string;
    await expect(read(path)).rejects.toMatchObject({ kind: 'internal', message });
    await expect(PlanWriter.open(path, OPTIONS)).rejects.toMatchObject({ kind: 'internal', message });
  });
});
