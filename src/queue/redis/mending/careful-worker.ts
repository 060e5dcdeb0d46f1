import { Worker, type Job, type JobJson } from 'bullmq';

/**
 * Called before BullMQ asks again after it was refused a job, or given one it cannot read. `token` is what it would have
 * locked the job with.
 */
type Mend = (error: unknown, token: string) => Promise<void>;

const REST_MS = 1000;

/**
 * BullMQ's worker over a queue that others may have written anything into. Of a job it takes what our own jobs have, so
 * that no job repeats itself, reports to a parent, is kept, or bears another name than it is listed under; and it does
 * not ask again and again for what cannot be had.
 */
export class CarefulWorker extends Worker<unknown, void> {
  /** Null while the worker is made. */
  mend: Mend | null = null;

  protected override createJob(json: JobJson, jobId: string): Job<unknown, void> {
    const { data, delay, timestamp, attemptsStarted, attemptsMade, stalledCounter, processedOn } = json;
    const counts = { attemptsStarted, attemptsMade, stalledCounter, processedOn };
    const ours = { id: jobId, name: 'value', opts: {}, progress: 0, delay, timestamp, ...counts };
    try {
      return super.createJob({ ...ours, data } as JobJson, jobId);
    } catch {
      // No JSON: whoever takes it finds that it is no job of ours.
      return super.createJob({ ...ours, data: 'null' } as JobJson, jobId);
    }
  }

  /** Without a time, it is how long BullMQ rests when waiting for a job failed: 5 s. */
  override delay(...[milliseconds = REST_MS, until]: Parameters<Worker['delay']>): Promise<void> {
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
