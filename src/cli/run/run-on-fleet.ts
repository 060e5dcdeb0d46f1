import { feeder } from '../../../workers/feed.ts';
import { checkServer } from '../../queue/redis/check-server.ts';
import type { Continued } from '../../runs/continue-run.ts';
import type { RunView } from '../../runs/progress.ts';
import type { Run } from '../../runs/create-run.ts';
import type { FeedUi, FleetAccess } from '../context.ts';
import { detachFeeder } from './detach-feeder.ts';
import { conclude } from '../finish/conclude.ts';
import { startProgress, type Progress } from '../progress/progress.ts';
import { explained, snapshot, tell } from './run-report.ts';

/**
 * Feeds a run to the fleet on a Redis and shows its progress until it is finished, or with `--detach` starts a process in
 * the background that does. `open` creates or opens the run; it is called once Redis has answered.
 */
export async function runOnFleet(
  open: () => Promise<Run>,
  retry: boolean,
  access: FleetAccess,
  ui: FeedUi,
  notes: readonly string[] = [],
): Promise<number> {
  const { redis, key } = access;
  tell(ui, `using the worker fleet on Redis at ${redis.shown} (${redis.place})`);
  if (ui.detach) {
    await checkServer(redis, ui.interrupts.drain, ui.startWaitMs, (line) => tell(ui, line));
    const run = await open();
    const status = await detachFeeder(run, retry, access, ui);
    if (ui.json) ui.stdout.json({ run: run.record.run, dir: run.dir });
    else ui.stdout.line(run.dir);
    return status;
  }
  let progress: Progress | null = null;
  let run: Run | null = null;
  let noted: string | null = null;
  const say = (line: string): void =>
    progress === null ? tell(ui, line) : progress.say(`guardsweep: ${line}`);
  const look = (view: RunView & { readonly note: string | null }) => {
    if (view.note !== noted && view.note !== null) say(view.note);
    noted = view.note;
    return snapshot(view, view.note);
  };
  let continued: Continued;
  try {
    continued = await feeder(
      {
        redis,
        key,
        startWaitMs: ui.startWaitMs,
        retry,
        say,
        run: async () => (run = await open()),
        watch: (view) => (progress = startProgress(ui, () => look(view()))),
      },
      ui.interrupts,
    );
    (progress as Progress | null)?.stop();
  } catch (error) {
    (progress as Progress | null)?.stop();
    throw run === null ? error : explained(error, run, ui);
  }
  return conclude(run!, continued, { retry, notes }, ui);
}
