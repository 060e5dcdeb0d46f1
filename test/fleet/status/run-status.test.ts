import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { finishRun } from '../../../src/sink/final-files/finish.ts';
import { commitsName } from '../../../src/files/run-files.ts';
import { PlanTail } from '../../../src/ingest/plan/plan-tail.ts';
import { clearMarker, setMarker } from '../../../src/runs/control/control-files.ts';
import { readRunState, RunWatch } from '../../../src/fleet/status/run-status.ts';
import { begunRun, claim, closingOf, feeding, newRun, openPlan, signal } from '../../record/run-fixture.ts';
import { failed, planLine, resultOf, shardOf } from '../../record/shards.ts';

describe('where a run stands', () => {
  it('is counted exactly, pass by pass, to its end', async () => {
    const run = await newRun();
    const watch = await RunWatch.open(run.dir, signal);
    const look = () => watch.look(null, signal);
    const nothing = { planned: 0, shards: { planned: 0 } };
    expect(await look()).toMatchObject({ state: 'stopped', stuck: 'no feeder: resume the run', ...nothing });

    const feeder = await feeding(run.dir, false);
    const log = await claim(run);
    const plan = await openPlan(run.dir, log);
    const shards = [[0, 1, 2], [3, 4], [5]].map((seqs, shard) => shardOf(shard, seqs));
    const results = shards.map((shard) => resultOf(shard, () => failed('TIMEOUT')));
    await plan.append(shards.slice(0, 2).map(planLine));
    await log.commit(results[1]!);
    const begun = { planned: 5, plan_closed: false, judged: 0, errors: 2, seconds_left: null };
    expect(await look()).toMatchObject({ state: 'running', pass: 1, stuck: null, ...begun });
    const open = { shards: { planned: 2, committed: 1 }, oldest_open_shard: 0 };
    expect(await look()).toMatchObject(open);
    await plan.append([planLine(shards[2]!), closingOf(run.record, 1, results)]);
    await log.commit(results[0]!);
    const closed = await look();
    expect(closed).toMatchObject({ planned: 6, plan_closed: true, errors: 5, oldest_open_shard: 2 });
    expect(closed.seconds_left).toBeCloseTo(1 / closed.items_per_second!);
    await log.commit(results[2]!);
    await finishRun(log, signal);
    expect(await look()).toMatchObject({ state: 'finished', oldest_open_shard: null, stuck: null });
    expect(await look()).toMatchObject({ exit_status: 5, gates: [], planned: 6, judged: 0, errors: 6 });

    const retried = shardOf(3, [1], { pass: 2 });
    const second = await claim(run);
    const planned = await openPlan(run.dir, second);
    await planned.append([planLine(retried)]);
    const again = { planned: 1, judged: 0, errors: 0, oldest_open_shard: 3 };
    expect(await look()).toMatchObject({ state: 'running', pass: 2, ...again });
    await second.commit(resultOf(retried));
    expect(await look()).toMatchObject({ judged: 1, shards: { planned: 4, committed: 4 } });
    await feeder.release();
    expect((await look()).state).toBe('stopped');
    for (const writer of [log, second, plan, planned]) await writer.close();
  });

  it('is not said to be finished before all of it is counted, even if it ends during the look', async () => {
    const { run, log, plan } = await begunRun();
    const shard = shardOf(0, [0, 1]);
    const results = [resultOf(shard)];
    const watch = await RunWatch.open(run.dir, signal);
    vi.spyOn(PlanTail.prototype, 'poll').mockImplementationOnce(async function (this: PlanTail, given) {
      await this.poll(given);
      await plan.append([planLine(shard), closingOf(run.record, 1, results)]);
      await log.commit(results[0]!);
      await finishRun(log, signal);
    });
    const before = { state: 'stopped', planned: 0, plan_closed: false };
    expect(await watch.look(null, signal)).toMatchObject(before);
    const after = { state: 'finished', planned: 2, plan_closed: true };
    expect(await watch.look(null, signal)).toMatchObject(after);
    await log.close();
    await plan.close();
  });

  it('names the first line of the log that is damaged, whenever it is looked at', async () => {
    const { run, log, plan } = await begunRun();
    const shards = [0, 1, 2].map((shard) => shardOf(shard, [shard]));
    await plan.append(shards.map(planLine));
    const watch = await RunWatch.open(run.dir, signal);
    expect((await watch.look(null, signal)).damaged_at).toBeNull();
    for (const shard of shards) await log.commit(resultOf(shard));
    const commits = join(run.dir, 'log', commitsName(log.epoch));
    const lines = (await readFile(commits, 'utf8')).split('\n');
    lines[3] = lines[3]!.replace('"items":1', '"items":3');
    await writeFile(commits, lines.join('\n'));
    const anew = await RunWatch.open(run.dir, signal);
    const expected = { damaged_at: `log/${commitsName(log.epoch)} line 4`, judged: 1 };
    for (const looked of [watch, anew]) expect(await looked.look(null, signal)).toMatchObject(expected);
    await log.close();
    await plan.close();
  });

  it('names the state that the marker files and the feeder leave', async () => {
    const { dir } = await newRun();
    expect(await readRunState(dir, signal)).toBe('stopped');
    await feeding(dir, false);
    expect(await readRunState(dir, signal)).toBe('running');
    await setMarker(dir, 'paused');
    expect(await readRunState(dir, signal)).toBe('paused');
    await setMarker(dir, 'cancelled');
    expect(await readRunState(dir, signal)).toBe('cancelled');
    await clearMarker(dir, 'cancelled');
    await clearMarker(dir, 'paused');
    expect(await readRunState(dir, signal)).toBe('running');
  });
});
