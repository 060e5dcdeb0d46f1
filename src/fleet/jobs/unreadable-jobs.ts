import { escapeText } from '../../domain/text/escape-text.ts';
import { Requeue, MAX_REQUEUE_DELAY_MS } from '../../queue/work-queue.ts';
import { FleetRuns, JOB_FORM, type AnnouncedRun } from '../redis/fleet-runs.ts';
import type { RedisLink } from '../../queue/redis/link.ts';
import type { DroppedJobs } from '../../queue/redis/sealing/dropped-jobs.ts';
import { runOfJob, UnreadableJob, type Unreadable } from '../../queue/redis/sealing/sealed-jobs.ts';

/** Drops or requeues jobs that this process cannot read. */
export class UnreadableJobs {
  readonly #link: RedisLink;
  readonly #runs: FleetRuns;
  readonly #dropped: DroppedJobs;

  constructor(link: RedisLink, dropped: DroppedJobs) {
    this.#link = link;
    this.#runs = new FleetRuns(link);
    this.#dropped = dropped;
  }

  /**
   * Resolves for a job to drop: this process can read the jobs of the run's feeder, so this one is either forged, or
   * damaged, in which case its shard is fed again. Throws `Requeue` for a job that another process may be able to read.
   * An unreadable job may contain content, so only its id is shown.
   */
  async handle(jobId: string, error: unknown, signal: AbortSignal): Promise<void> {
    const reason: Unreadable = error instanceof UnreadableJob ? error.reason : 'malformed';
    const run = runOfJob(jobId);
    const announced = run === null ? 'absent' : await this.#runs.find(run, signal);
    const trouble = typeof announced === 'string' ? null : cannotRead(announced, this.#link);
    if (run === null || trouble === null) {
      this.#dropped.drop(reason, `a job was dropped, ${reason}: ${escapeText(jobId)}`);
      return;
    }
    this.#dropped.sayOnce(
      `requeued ${run}`,
      `the run ${run}: ${trouble}; its jobs are requeued for other processes`,
      { event: 'run_skipped', run, code: 'unreadable' },
    );
    await this.#runs.noteObstacle(run, `a worker cannot read its jobs: ${trouble}`, signal);
    throw new Requeue(MAX_REQUEUE_DELAY_MS);
  }
}

/** Why this process cannot read the jobs of a run, as a short phrase; null if it can. */
export function cannotRead(
  { form, key }: Pick<AnnouncedRun, 'form' | 'key'>,
  { seal }: RedisLink,
): string | null {
  if (form !== JOB_FORM) return 'its feeder runs another version of guardsweep';
  const own = seal?.keyId ?? null;
  if (key === own) return null;
  if (key === null) return 'its feeder has no fleet key, and this process has one (GUARDSWEEP_FLEET_KEY)';
  if (own === null) return 'its feeder has a fleet key, and this process has none (GUARDSWEEP_FLEET_KEY)';
  return 'its feeder and this process have different fleet keys (GUARDSWEEP_FLEET_KEY)';
}
