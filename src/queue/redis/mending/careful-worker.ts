import { Worker, type Job, type JobJson } from 'bullmq';

/**
 * Called when BullMQ failed to fetch a job, or got one that it cannot read, before it tries again. `token` is the lock
 * token of that fetch.
 */
type Mend = (error: unknown, token: string) => Promise<void>;

const RETRY_DELAY_MS = 1000;

/**
 * BullMQ's worker for a queue that may contain arbitrary foreign data. It uses only those fields of a job that our own
 * jobs have, so that no job repeats, has a parent, is kept, or has an ID other than the one it is listed under. After a
 * failed fetch it waits instead of retrying in a tight loop.
 */
export class CarefulWorker extends Worker<unknown, void> {
  /** Null while the worker is being constructed. */
  mend: Mend | null = null;

  protected override createJob(json: JobJson, jobId: string): Job<unknown, void> {
    const { data, delay, timestamp, attemptsStarted, attemptsMade, stalledCounter, processedOn } = json;
    const counts = { attemptsStarted, attemptsMade, stalledCounter, processedOn };
    const ours = { id: jobId, name: 'value', opts: {}, progress: 0, delay, timestamp, ...counts };
    try {
      return super.createJob({ ...ours, data } as JobJson, jobId);
    } catch {
      // Not JSON: the consumer finds the job unreadable.
      return super.createJob({ ...ours, data: 'null' } as JobJson, jobId);
    }
  }

  /** BullMQ passes no time after a failed wait for a job; its own default is 5 s. */
  override delay(...[milliseconds = RETRY_DELAY_MS, until]: Parameters<Worker['delay']>): Promise<void> {
    return super.delay(milliseconds, until);
  }

  protected override async moveToActive(token: string, name?: string): Promise<Job<unknown, void>> {
    try {
      return await super.moveToActive(token, name);
    } catch (error) {
      await this.mend?.(error, token);
      throw error;
    }
  }
}
