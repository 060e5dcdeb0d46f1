import { Failure } from '../../domain/failure.ts';
import { GivenBack } from '../../queue/given-back.ts';
import type { SinkJob } from '../../queue/redis/result-job.ts';
import { finishRun } from '../../sink/finish.ts';
import { claimLog } from '../../sink/verdict-log/claim-log.ts';
import type { LogWriter } from '../../sink/verdict-log/log-writer.ts';
import { latestFeedEpoch, readFeeder } from '../control/feed-claim.ts';
import { finishedSummary } from '../run-state.ts';
import type { FoundRun } from './find-run-directory.ts';

/** When another process took the log over: how long until what comes in is looked at again, in milliseconds. */
const OVERTAKEN_MS = 200;

export interface HeldRunOptions {
  readonly run: FoundRun;
  /** One line for people. */
  readonly say: (message: string) => void;
  /** Told when the disk is full, and when there is room again. */
  readonly diskFull: (full: boolean) => void;
  /** Aborted when everything is to end at once. */
  readonly stop: AbortSignal;
}

/** A run whose results one sink commits. The log is claimed when the first one comes. */
export class HeldRun {
  readonly #options: HeldRunOptions;
  #claim: Promise<LogWriter> | null = null;

  constructor(options: HeldRunOptions) {
    this.#options = options;
  }

  /**
   * Does what a job asks for: resolves when the result is on disk, or the run is finished. What comes from a fleet
   * that no longer feeds the run is let go, and so is the end that an earlier feeder asked for: it says nothing of
   * what is planned since. Throws `GivenBack` when another process took the log over, a Failure when the run cannot
   * go on.
   */
  async take(job: SinkJob): Promise<'committed' | 'finished' | 'dropped'> {
    if (this.#claim === null && !(await this.#isFed())) return 'dropped';
    if (job.kind === 'finish' && !(await this.#isFedBy(job.epoch))) return 'dropped';
    if (job.kind === 'finish' && (await finishedSummary(this.#options.run.dir)) !== null) return 'finished';
    this.#claim ??= this.#claimLog();
    const claim = this.#claim;
    try {
      const log = await claim;
      if (job.kind === 'result') {
        await log.commit(job.result);
        return 'committed';
      }
      const { status } = await finishRun(log, this.#options.stop);
      if (status === 'finished') return 'finished';
      // Meanwhile another may have begun to feed the run, and to plan.
      if (!(await this.#isFedBy(job.epoch))) return 'dropped';
    } catch (error) {
      if (!(error instanceof Failure) || error.kind !== 'superseded') throw error;
      await this.#letGo(claim);
      throw new GivenBack(OVERTAKEN_MS);
    }
    throw new Failure(
      'internal',
      'the run cannot be finished: not all of its shards are committed; resume it',
    );
  }

  /** Commits what is under way and closes the log. */
  async close(): Promise<void> {
    if (this.#claim !== null) await this.#letGo(this.#claim);
  }

  async #claimLog(): Promise<LogWriter> {
    const { run, say, diskFull, stop } = this.#options;
    const report = (message: string, full: boolean): void => {
      diskFull(full);
      say(message);
    };
    const since = (await readFeeder(run.dir))?.at;
    return claimLog(run.dir, run.record, { signal: stop, report, since });
  }

  async #letGo(claim: Promise<LogWriter>): Promise<void> {
    if (this.#claim === claim) this.#claim = null;
    const log = await claim.catch(() => null);
    await log?.close();
  }

  /** Whether a fleet feeds the run, or did last: a process that judges it by itself needs no sink. */
  async #isFed(): Promise<boolean> {
    const feeder = await readFeeder(this.#options.run.dir);
    return feeder !== null && feeder.fleet;
  }

  /** Whether the feeder of an epoch is the latest. */
  async #isFedBy(epoch: number): Promise<boolean> {
    return (await latestFeedEpoch(this.#options.run.dir)) === epoch;
  }
}
