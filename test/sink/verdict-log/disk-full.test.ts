import { readdir, type FileHandle } from 'node:fs/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { finishRun } from '../../../src/sink/final-files/finish.ts';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { fileHandles } from '../../helpers/file-handles.ts';
import { claim, finishWith, newRun, openPlan, signal, work } from '../../record/run-fixture.ts';
import { planLine, resultOf, shardOf } from '../../record/shards.ts';

afterEach(() => vi.restoreAllMocks());

const noSpace = (): Error => Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });

type Write = (this: FileHandle, bytes: Buffer, ...rest: unknown[]) => Promise<{ bytesWritten: number }>;

/** Makes the next writes fail, each after half of its bytes. */
async function failWrites(dir: string, times: number): Promise<void> {
  const handles = await fileHandles(dir);
  // eslint-disable-next-line @typescript-eslint/unbound-method
  const write = handles.write as unknown as Write;
  let left = times;
  const failing: Write = async function (this: FileHandle, bytes, offset, length, position) {
    if (left-- <= 0) return write.call(this, bytes, offset, length, position);
    const from = (offset as number | undefined) ?? 0;
    const half = Math.floor((bytes.length - from) / 2);
    await write.call(this, bytes, from, half, (position as number | undefined) ?? null);
    throw noSpace();
  };
  vi.spyOn(handles, 'write').mockImplementation(failing as unknown as FileHandle['write']);
}

/** A run with its log, and two shards for it; the log waits for room for so long. */
async function begun(maxWaitMs = 60_000) {
  const run = await newRun();
  const said: string[] = [];
  const log = await claim(run, { report: (line) => said.push(line), retryEveryMs: 1, maxWaitMs });
  const results = [resultOf(shardOf(0, [0, 1])), resultOf(shardOf(1, [2, 3]))];
  return { run, dir: run.dir, log, said, results };
}

describe('a full disk', () => {
  it.each([1, 2, 3])('makes %i failed writes wait, says so, and damages nothing', async (times) => {
    const { dir, log, said, results } = await begun();
    await log.commit(results[0]!);
    await failWrites(dir, times);
    await log.commit(results[1]!);
    vi.restoreAllMocks();
    const full = expect.stringMatching(/^The disk is full: the verdict log cannot be written/) as string;
    expect(said).toEqual([full, expect.stringMatching(/disk space again/)]);
    await finishWith(log, dir, results);
    expect(await verifyRun(dir)).toMatchObject({ ok: true, items: 4 });
  });

  it('when synchronising fails, writes the same bytes to the same place again', async () => {
    const { dir, log, results } = await begun();
    vi.spyOn(await fileHandles(dir), 'datasync').mockRejectedValueOnce(noSpace());
    await log.commit(results[0]!);
    await finishWith(log, dir, results);
    expect(await verifyRun(dir)).toMatchObject({ ok: true, items: 4 });
  });

  it('that stays full ends the writer with `service`; the run can be resumed', async () => {
    const { run, dir, log, results } = await begun(20);
    await log.commit(results[0]!);
    await failWrites(dir, Number.POSITIVE_INFINITY);
    await expect(log.commit(results[1]!)).rejects.toMatchObject({ kind: 'service', exitStatus: 4 });
    await expect(log.commit(results[1]!)).rejects.toMatchObject({ kind: 'service' });
    vi.restoreAllMocks();
    await log.close();
    const next = await claim(run);
    expect([0, 1].map((shard) => next.isCommitted(shard))).toEqual([true, false]);
    await finishWith(next, dir, results);
    expect(await verifyRun(dir)).toMatchObject({ ok: true, items: 4 });
  });

  it('leaves the plan whole', async () => {
    const { dir, log } = await begun();
    const plan = await openPlan(dir, log);
    await plan.append([planLine(shardOf(0, [0]))]);
    await failWrites(dir, 2);
    await plan.append([planLine(shardOf(1, [1])), planLine(shardOf(2, [2]))]);
    vi.restoreAllMocks();
    await plan.close();
    const again = await openPlan(dir, log);
    expect(again.state).toMatchObject({ shards: 3, items: 3 });
    await again.close();
    await log.close();
  });

  it('while finishing, waits too, and leaves nothing half written under a final name', async () => {
    const { dir, log, results } = await begun(20);
    await work(dir, log, results);
    await failWrites(dir, Number.POSITIVE_INFINITY);
    await expect(finishRun(log, signal)).rejects.toMatchObject({ kind: 'service' });
    vi.restoreAllMocks();
    const atFirst = ['log', 'plan.jsonl', 'run.json', 'skipped.jsonl', 'sources.jsonl'];
    expect((await readdir(dir)).sort()).toEqual(atFirst);
    await failWrites(dir, 1);
    await finishRun(log, signal);
    await log.close();
    expect(await verifyRun(dir)).toMatchObject({ ok: true, items: 4 });
  });
});
