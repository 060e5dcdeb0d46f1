import { feed } from '../../workers/feed.ts';
import type { RedisAddress } from '../config/redis-url.ts';
import { checkServer } from '../queue/redis/check-server.ts';
import type { RunView } from '../runs/continue-run.ts';
import type { Run } from '../runs/create-run.ts';
import type { FeedUi } from './context.ts';
import { detachFeeder } from './detach-feeder.ts';
import { startProgress, type Progress } from './progress.ts';
import { explained, report, snapshot, tell } from './run-report.ts';

/**
 * Feeds a run to the fleet behind a Redis and follows it to its end, or with `--detach` leaves that to a process in
 * the background. `open` creates or opens the run; it is called when Redis is known to be there.
 */
export async function feedFleet(
  open: () => Promise<Run>,
  retry: boolean,
  redis: RedisAddress,
  ui: FeedUi,
  notes: readonly string[] = [],
): Promise<number> {
  tell(ui, `the fleet of Redis at ${redis.shown} judges (${redis.place})`);
  if (ui.detach) {
    await checkServer(redis, ui.interrupts.drain, ui.startWaitMs, (line) => tell(ui, line));
    const run = await open();
    const status = await detachFeeder(run, retry, redis, ui);
    ui.stdout.write(ui.json ? `${JSON.stringify({ run: run.record.run, dir: run.dir })}\n` : `${run.dir}\n`);
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
  try {
    const { summary, worked } = await feed(
      {
        redis,
        startWaitMs: ui.startWaitMs,
        retry,
        say,
        run: async () => (run = await open()),
        watch: (view) => (progress = startProgress(ui, () => look(view()))),
      },
      ui.interrupts,
    );
    (progress as Progress | null)?.stop();
    if (!worked) {
      tell(ui, retry ? 'nothing to retry: no item ended in a retryable error' : 'this run is finished');
    }
    return report(run!, summary, ui, notes);
  } catch (error) {
    (progress as Progress | null)?.stop();
    throw run === null ? error : explained(error, run, ui);
  }
}
