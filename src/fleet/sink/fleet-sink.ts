import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../../domain/failure.ts';
import type { LogFields, Say } from '../../domain/say.ts';
import { FleetRuns, type AnnouncedRun } from '../redis/fleet-runs.ts';
import { sinkQueue } from '../redis/fleet-queues.ts';
import { Lease } from '../redis/lease.ts';
import type { RedisLink } from '../../queue/redis/link.ts';
import { DroppedJobs } from '../../queue/redis/sealing/dropped-jobs.ts';
import { cannotRead } from '../jobs/unreadable-jobs.ts';
import type { SinkJob } from '../jobs/result-job.ts';
import { sweepRun } from '../redis/sweep-run.ts';
import type { Lane } from '../../domain/item.ts';
import type { ShardTally } from '../../record/shard-tally.ts';
import { assertOwnRun } from '../../runs/trust/own-run.ts';
import { findRunDirectory, type FoundRun } from './find-run-directory.ts';
import type { VerdictStore } from '../../store/verdict-store.ts';
import { openRunStore } from './run-store.ts';
import { HeldRun, type SinkAfterFinish } from './held-run.ts';
import { wasTakenOver } from '../../runs/control/feed-claim.ts';
import { sinkLease } from '../status/stall-reason.ts';

const LOOK_EVERY_MS = 500;
const LEASE_MS = 10_000;
/** Maximum runs that one sink holds; others wait or go to another sink. */
const MAX_HELD = 32;
/** Maximum results of a run that can share one fsync of its log. */
const MAX_COMMITS_IN_FLIGHT = 16;
/** How long this sink does not take a run again after it failed, in milliseconds. */
const COOL_DOWN_MS = 10_000;

interface FleetSinkOptions {
  readonly link: RedisLink;
  /** The id under which this process announces itself. */
  readonly id: string;
  /** Absolute folders; run directories outside them are not touched. */
  readonly roots: readonly string[];
  /** Path of this user's key file, see runKeyFile. */
  readonly keyFile: string | null;
  readonly say: Say;
  readonly observer: SinkObserver;
  readonly afterFinish: SinkAfterFinish;
  /** Aborted when no new work may be started. */
  readonly drain: AbortSignal;
  /** Aborted when everything must end at once. */
  readonly stop: AbortSignal;
}

export interface SinkObserver {
  /** The runs that the sink holds now, by name. */
  held(runs: ReadonlyMap<string, Pick<HeldRun, 'backlog'>>): void;
  /** Called once for each shard when it is on disk, however often its result is delivered. */
  committed(lane: Lane, tally: ShardTally): void;
  /** Called when the disk of a run is full, and when it no longer is. */
  diskFull(run: string, full: boolean): void;
  finished(): void;
  /**
   * Called when a job was dropped because it is not a result of the run's shards; `reason` is one of a small fixed set.
   */
  dropped(reason: string): void;
}

interface Held extends Pick<HeldRun, 'backlog'> {
  readonly lease: Lease;
  readonly end: AbortController;
  readonly done: Promise<void>;
}

/**
 * Commits the results of every fed run whose directory is below the sink's folders, until drained. Only one sink holds
 * a run at a time; epochs ensure this even if Redis loses the lease. Rejects with the reason of `drain` or `stop`.
 */
export async function runFleetSink(options: FleetSinkOptions): Promise<never> {
  return new FleetSink(options).run();
}

class FleetSink {
  readonly #options: FleetSinkOptions;
  readonly #runs: FleetRuns;
  readonly #held = new Map<string, Held>();
  /** The last line printed about each run that is not held, to print it only once. */
  readonly #said = new Map<string, string>();
  readonly #coolDownUntil = new Map<string, number>();

  constructor(options: FleetSinkOptions) {
    this.#options = options;
    this.#runs = new FleetRuns(options.link);
  }

  async run(): Promise<never> {
    const { drain, stop, link } = this.#options;
    const ending = AbortSignal.any([drain, stop]);
    setMaxListeners(0, ending, stop);
    try {
      for (;;) {
        ending.throwIfAborted();
        if (!link.away) await this.#look(ending);
        await delay(LOOK_EVERY_MS, undefined, { signal: ending });
      }
    } catch (error) {
      if (!ending.aborted) throw error;
      throw stop.aborted ? stop.reason : drain.reason;
    } finally {
      for (const held of this.#held.values()) held.end.abort(new Failure('interrupted', 'the sink ends'));
      await Promise.all([...this.#held.values()].map(({ done }) => done));
    }
  }

  /** Takes fed runs that no sink holds, renews the leases of held runs, and releases runs that are over. */
  async #look(signal: AbortSignal): Promise<void> {
    const listed = await this.#runs.listAll(this.#held.keys(), signal);
    const fed = new Map(listed.fed.map((run) => [run.run, run]));
    const over = new Set(listed.forgotten);
    const unreadable = await this.#removeTakenOver(fed, over, signal);
    for (const name of over) if (!this.#held.has(name)) await this.#sweep(name, signal);
    for (const name of this.#said.keys()) if (!fed.has(name)) this.#said.delete(name);
    for (const [name, { lease, end }] of this.#held) {
      if (over.has(name)) end.abort(new Failure('interrupted', 'the run is over'));
      else if (!(await lease.take(signal))) {
        const fields = { level: 'warn', event: 'run_lost', run: name } as const;
        this.#options.say(`another sink holds the run ${name} now`, fields);
        end.abort(new Failure('interrupted', 'another sink holds the run'));
      }
    }
    for (const [name, run] of fed) {
      if (!this.#held.has(name) && !unreadable.has(name)) await this.#tryToHold(run, signal);
    }
  }

  /**
   * Unregisters runs that a single process has taken over, and moves them from `fed` to `over`: only a sink can detect
   * that, from the run directory. Returns the runs whose directory cannot currently be read.
   */
  async #removeTakenOver(
    fed: Map<string, AnnouncedRun>,
    over: Set<string>,
    signal: AbortSignal,
  ): Promise<ReadonlySet<string>> {
    const unreadable = new Set<string>();
    for (const [name, run] of fed) {
      if (cannotRead(run, this.#options.link) !== null) continue;
      const found = await findRunDirectory(run, this.#options.roots);
      if (found === null) continue;
      let taken: boolean;
      try {
        taken = await wasTakenOver(found.dir, run.epoch);
      } catch (error) {
        // This affects only this run; the others continue.
        const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
        this.#sayOnce(name, `the folder control of the run ${name} cannot be read (${code}): skipped`);
        unreadable.add(name);
        continue;
      }
      if (!taken) continue;
      await this.#runs.removeUnlessRefed(run, signal);
      fed.delete(name);
      over.add(name);
    }
    return unreadable;
  }

  async #sweep(name: string, signal: AbortSignal): Promise<void> {
    await sweepRun(this.#options.link, name, signal);
    if (!(await this.#runs.isRegistered(name, signal))) await this.#runs.remove(name, signal);
  }

  async #tryToHold(run: AnnouncedRun, signal: AbortSignal): Promise<void> {
    const { link, id, roots } = this.#options;
    const until = this.#coolDownUntil.get(run.run);
    if (until !== undefined && performance.now() < until) return;
    this.#coolDownUntil.delete(run.run);
    const found = await findRunDirectory(run, roots);
    if (found === null) {
      this.#sayOnce(run.run, `the run ${run.run} is not below a folder of this sink (--root): skipped`);
      return;
    }
    const trouble = cannotRead(run, link);
    if (trouble !== null) {
      this.#sayOnce(run.run, `the run ${run.run} is skipped: ${trouble}`);
      await this.#runs.noteObstacle(run.run, `a sink cannot read its outcomes: ${trouble}`, signal);
      return;
    }
    if (this.#held.size >= MAX_HELD) {
      this.#sayOnce(run.run, `the run ${run.run} waits: this sink holds ${MAX_HELD} runs already`);
      return;
    }
    const shared = await assertOwnRun(found.dir).catch((error: Error) => error);
    if (shared !== undefined) {
      await this.#giveUp(run.run, new Failure('service', shared.message, { cause: shared }));
      return;
    }
    const lease = new Lease(link, sinkLease(run.run), id, LEASE_MS);
    if (!(await lease.take(signal))) {
      this.#sayOnce(run.run, `another sink holds the run ${run.run}: waiting`, 'info');
      return;
    }
    this.#options.say(`committing the run ${run.run}`, { event: 'run_held', run: run.run });
    const end = new AbortController();
    const held = this.#heldRun(found);
    const done = this.#hold(run.run, held, lease, end.signal).finally(() => {
      this.#held.delete(run.run);
      this.#options.observer.held(this.#held);
    });
    this.#held.set(run.run, { lease, end, done, backlog: () => held.backlog() });
    this.#options.observer.held(this.#held);
  }

  #heldRun(run: FoundRun): HeldRun {
    const { stop, observer, afterFinish, roots, keyFile } = this.#options;
    const say = this.#sayOf(run.record.run);
    const sayOfStore: Say = (message) => say(message, { level: 'warn', event: 'store' });
    const openStore = (found: FoundRun): Promise<VerdictStore | null> =>
      openRunStore(found, { roots, keyFile, say: sayOfStore, signal: stop });
    const diskFull = (full: boolean): void => observer.diskFull(run.record.run, full);
    return new HeldRun({ run, say, diskFull, afterFinish, openStore, stop });
  }

  /** Commits the results of one run until it is over or another process takes it over. Does not reject. */
  async #hold(name: string, held: HeldRun, lease: Lease, end: AbortSignal): Promise<void> {
    const { link, stop, observer } = this.#options;
    const dropped = new DroppedJobs(this.#sayOf(name), (reason) => observer.dropped(reason));
    const queue = sinkQueue(link, name, { dropped });
    const signal = AbortSignal.any([end, stop]);
    setMaxListeners(0, signal);
    try {
      await queue.consume(
        async (job) => {
          const taken = await held.take(job);
          if (taken.done === 'dropped') await this.#drop(name, job, taken.reason, dropped);
          if (taken.done === 'committed' && job.kind === 'result') {
            if (taken.tally !== null) observer.committed(job.result.shard.lane, taken.tally);
            await held.keep(job.result);
          }
          if (taken.done === 'finished') observer.finished();
        },
        { concurrency: MAX_COMMITS_IN_FLIGHT, signal },
      );
    } catch (error) {
      if (!signal.aborted) await this.#giveUp(name, error);
    } finally {
      await held.close();
      observer.diskFull(name, false);
      await queue.close();
      await this.#clearIfOver(name);
      await lease.release();
    }
  }

  /** The run's feeder feeds a dropped shard again within seconds, which bounds how often this happens. */
  async #drop(name: string, job: SinkJob, reason: string, dropped: DroppedJobs): Promise<void> {
    if (reason === 'not fed' || reason === 'other feeder') {
      dropped.count(reason);
      return;
    }
    const what = job.kind === 'finish' ? 'a request to finish it' : 'outcomes that do not fit its plan';
    const fields = job.kind === 'finish' ? {} : { shard: job.result.shard.shard };
    dropped.drop(reason, `the run ${name}: ${what}, dropped (${reason})`, fields);
    await this.#runs.noteObstacle(
      name,
      `its sink drops outcomes that are not of its plan (${reason})`,
      this.#options.stop,
    );
  }

  /** While a consumer runs, BullMQ writes the queue's settings, even if the queue has been removed. */
  async #clearIfOver(name: string): Promise<void> {
    const { link, stop } = this.#options;
    try {
      if (!link.away && !(await this.#runs.isRegistered(name, stop))) await this.#sweep(name, stop);
    } catch (error) {
      // A sink that must end at once may leave a key behind, but loses no work.
      if (!stop.aborted) throw error;
    }
  }

  /** Tells the run's feeder why the run cannot continue. */
  async #giveUp(name: string, error: unknown): Promise<void> {
    const known = error instanceof Failure && (error.kind === 'internal' || error.kind === 'service');
    const { kind, message } = known
      ? { kind: error.kind, message: error.message }
      : { kind: 'internal' as const, message: 'the sink failed while working on this run' };
    const { say, stop } = this.#options;
    const fields = { level: 'error', event: 'run_failed', run: name, code: kind } as const;
    say(`the run ${name} cannot continue: ${message}`, fields);
    this.#coolDownUntil.set(name, performance.now() + COOL_DOWN_MS);
    try {
      const fed = await this.#runs.find(name, stop);
      if (typeof fed !== 'string')
        await this.#runs.reportProblem(name, { kind, message, epoch: fed.epoch }, stop);
    } catch {
      // A feeder that misses the report ends after nothing has been committed for `maxWait`.
    }
  }

  /** Adds the name of the run to logged messages. */
  #sayOf(run: string): Say {
    return (message, fields) => this.#options.say(message, { ...fields, run });
  }

  #sayOnce(run: string, line: string, level: LogFields['level'] = 'warn'): void {
    if (this.#said.get(run) === line) return;
    this.#said.set(run, line);
    this.#options.say(line, { level, event: 'run_skipped', run });
  }
}
