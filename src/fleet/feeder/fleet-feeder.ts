import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../../domain/failure.ts';
import { recordSha256 } from '../../config/run-config.ts';
import { formatDuration } from '../../domain/start-notice.ts';
import { hasReusedVerdict, LANES, type Lane } from '../../domain/item.ts';
import { shardBytes, type Shard } from '../../domain/shard.ts';
import { FleetRuns } from '../redis/fleet-runs.ts';
import { RedisHeadroom } from '../redis/redis-memory.ts';
import { shardQueue, sinkQueue } from '../redis/fleet-queues.ts';
import type { RedisLink } from '../../queue/redis/link.ts';
import type { RedisQueue } from '../../queue/redis/redis-queue.ts';
import { finishJobId, type SinkJob } from '../jobs/result-job.ts';
import type { ShardJob } from '../jobs/shard-job.ts';
import { readWorkerModels } from '../redis/worker-models.ts';
import { sweepRun } from '../redis/sweep-run.ts';
import type { Summary } from '../../record/summary/summary.ts';
import type { ChainTail } from '../../record/log/chain-tail.ts';
import { hasMarker, RunCancelled } from '../../runs/control/control-files.ts';
import type { FeedClaim } from '../../runs/control/feed-claim.ts';
import type { Run } from '../../runs/create-run.ts';
import { ByteBudget } from '../../flow/byte-budget.ts';
import { BracketedReuse } from '../../runs/reuse/bracketed-reuse.ts';
import type { RunReuse } from '../../runs/reuse/run-reuse.ts';
import { OutstandingShards } from './outstanding-shards.ts';
import { stallReason } from '../status/stall-reason.ts';

const LOOK_EVERY_MS = 100;
const MARKERS_EVERY_MS = 1000;
const RESUBMIT_EVERY_MS = 5000;
/**
 * Maximum content of shards whose reused verdicts are not confirmed yet, in bytes. Even an empty shard counts as the
 * minimum.
 */
const UNCONFIRMED_BYTES = 64 * 1024 * 1024;
const MIN_UNCONFIRMED_BYTES = 128 * 1024;
/** How long the note about a full Redis stays after the last wait for room, which avoids flicker. */
const ROOM_NOTE_MS = 60_000;
/** Timeout for Redis, in milliseconds; a reply takes far less. */
const ANSWER_WITHIN_MS = 5000;

interface FleetFeederOptions {
  readonly run: Run;
  readonly reuse: RunReuse;
  readonly link: RedisLink;
  readonly claim: FeedClaim;
  readonly tail: ChainTail;
}

/** A completely planned run. */
export interface PlannedRun {
  /** The latest pass. */
  readonly pass: number;
  /** Number of shards in all passes. */
  readonly shards: number;
}

/**
 * The feeder of one run: tracks which shards are outstanding and which are committed, and obeys the marker files.
 *
 *                           marker `paused` set or cleared
 *   new ── supervise() ──► feeding ◄────────────────────► paused
 *                             │ all shards committed: finish()
 *                             ▼
 *                         finishing ── the sink wrote the final files ──► finished: deregister()
 *
 * From each state: marker `cancelled` ──► deregister(), Failure `interrupted`; a later feed epoch ──► `superseded`;
 * a problem reported by a worker or sink ──► its kind; no progress for `maxWait`, unless paused ──► `service`.
 * While Redis is unreachable the state does not change; after a reconnect, shards that Redis lost are submitted again.
 * All states of a run: docs/fleet.md.
 */
export class FleetFeeder {
  readonly shards: OutstandingShards;
  readonly #options: FleetFeederOptions;
  readonly #runs: FleetRuns;
  readonly #queues: ReadonlyMap<Lane, RedisQueue<ShardJob>>;
  readonly #results: RedisQueue<SinkJob>;
  #note: string | null = null;
  #paused = false;
  readonly #reuse: BracketedReuse;
  readonly #unconfirmed = new ByteBudget(UNCONFIRMED_BYTES);
  /** Shards that are held back until it is known which models judge. */
  readonly #unfed = new Set<Shard>();
  /** Shards whose reused verdicts await confirmation, or that wait for room after that. */
  readonly #feeding = new Set<Promise<void>>();
  /** Whether Redis has reconnected, or the run was continued, since lost shards were last resubmitted. */
  #isBack = false;
  #isDeregistered = false;
  /** Id of the finish job that is waiting for the sink; null if there is none. */
  #finishing: string | null = null;
  #progressAt = performance.now();

  constructor(options: FleetFeederOptions) {
    const { run, link } = options;
    this.#options = options;
    this.#runs = new FleetRuns(link);
    this.#queues = new Map(LANES.map((lane) => [lane, shardQueue(link, lane)]));
    this.#results = sinkQueue(link, run.record.run);
    this.#reuse = new BracketedReuse(options.reuse, (signal) =>
      readWorkerModels(link, run.record.config.workerGuards ?? null, signal),
    );
    const headroom = new RedisHeadroom(link);
    this.shards = new OutstandingShards({
      run: run.record.run,
      record: recordSha256(run.record),
      epoch: options.claim.epoch,
      key: options.claim.key,
      expectFingerprint: run.record.config.expectFingerprint,
      workerGuards: run.record.config.workerGuards ?? null,
      judging: run.record.config.judging,
      priority: run.record.config.priority ?? 'normal',
      contentPolicy: run.record.config.output.includeContent ? run.record.config.policy : null,
      queueOf: (lane) => this.#queues.get(lane)!,
      results: this.#results,
      isCommitted: (shard) => options.tail.isCommitted(shard),
      redisHasRoom: (bytes, signal) => headroom.hasRoom(bytes, signal),
    });
  }

  /** Why the run makes no progress, as a short phrase; null if it does. */
  get note(): string | null {
    return this.#note;
  }

  /**
   * Feeds a planned shard, or begins to. A shard with reused verdicts is fed once a reading has confirmed that a worker
   * has their model. If the run reuses verdicts, this first waits for a worker, without which nothing could be judged
   * anyway.
   */
  async feed(planned: Shard, signal: AbortSignal): Promise<void> {
    if (!this.#options.reuse.isOn) return this.shards.submit(planned, signal);
    const bytes = Math.max(shardBytes(planned.items), MIN_UNCONFIRMED_BYTES);
    await this.#unconfirmed.enter(bytes, signal);
    this.#unfed.add(planned);
    const settling = this.#reuse.settle(planned, signal);
    const feeding = settling
      .then((settled) => this.#reuse.confirm(planned, settled, signal))
      .then((shard) => {
        this.#unfed.delete(planned);
        return this.shards.submit(shard, signal);
      })
      .finally(() => this.#unconfirmed.leave(bytes));
    feeding.catch(() => undefined);
    const isReused = (await settling).items.some(hasReusedVerdict);
    if (!isReused) return feeding;
    this.#feeding.add(feeding);
    // A failed one stays in the set, where `drained` finds it.
    void feeding.then(
      () => this.#feeding.delete(feeding),
      () => undefined,
    );
  }

  /** Resolves when everything is fed and committed. */
  async drained(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#feeding);
    await this.shards.drained(signal);
  }

  /** Applies the marker files. Called before feeding begins, so a paused run submits nothing. */
  async obeyMarkers(signal: AbortSignal): Promise<void> {
    const { run, claim } = this.#options;
    try {
      await claim.assertCurrent();
    } catch (error) {
      // A run whose directory is gone cannot be finished.
      if (error instanceof Failure && error.kind === 'service') await this.deregister(signal);
      throw error;
    }
    if (await hasMarker(run.dir, 'cancelled')) {
      await this.deregister(signal);
      throw new RunCancelled();
    }
    const paused = await hasMarker(run.dir, 'paused');
    if (paused !== this.#paused) {
      this.#paused = paused;
      this.shards.hold(paused);
      if (paused) await this.#ifRedisAnswers(signal, (soon) => this.shards.withdraw(soon));
      else this.#isBack = true;
    }
    if (paused) this.#progressAt = performance.now();
  }

  /**
   * Registers the run with the fleet, then supervises it until aborted: follows the commits, resubmits lost shards and
   * applies the marker files. Rejects with a Failure: `superseded`; `interrupted` if the run was cancelled; `service`
   * if nothing was committed, or no sink finished the run, for `maxWait`; or the problem that a worker or sink
   * reported.
   */
  async supervise(signal: AbortSignal): Promise<never> {
    const endListening = this.#options.link.onBack(() => (this.#isBack = true));
    let markersAt = 0;
    let resubmitAt = performance.now() + RESUBMIT_EVERY_MS;
    try {
      await this.#ifRedisAnswers(signal, (soon) => this.#register(soon));
      for (;;) {
        signal.throwIfAborted();
        await this.#followCommits();
        const now = performance.now();
        if (now >= markersAt) {
          markersAt = now + MARKERS_EVERY_MS;
          await this.#check(signal);
        }
        if (this.#isBack || now >= resubmitAt) {
          this.#isBack = false;
          resubmitAt = now + RESUBMIT_EVERY_MS;
          await this.#ifRedisAnswers(signal, (soon) => this.#resubmitLost(soon));
        }
        await delay(LOOK_EVERY_MS, undefined, { signal });
      }
    } finally {
      endListening();
    }
  }

  /**
   * Asks the sink to finish the run and waits until it has. Failure('internal') if committed shards are no longer
   * committed because a sink that took over the log found them damaged.
   */
  async finish(
    { pass, shards }: PlannedRun,
    read: () => Promise<Summary | null>,
    signal: AbortSignal,
  ): Promise<Summary> {
    const { run, claim } = this.#options;
    const record = recordSha256(run.record);
    const job: SinkJob = { kind: 'finish', run: run.record.run, record, epoch: claim.epoch, pass };
    const id = finishJobId(job.run, pass, claim.epoch);
    this.#finishing = id;
    this.#progressAt = performance.now();
    try {
      for (;;) {
        // Another process may have committed the rest and may be about to finish the run.
        await claim.assertCurrent();
        await this.#results.put(job, signal);
        while (await this.#results.has(id, signal)) await delay(LOOK_EVERY_MS, undefined, { signal });
        const summary = await read();
        if (summary !== null) return summary;
        await this.#followCommits();
        if (this.#options.tail.shards < shards) throw unfinished();
        await delay(LOOK_EVERY_MS, undefined, { signal });
      }
    } finally {
      this.#finishing = null;
    }
  }

  /**
   * Removes the run and all its keys from Redis. Does nothing while Redis is unreachable: the run is over in any case,
   * and a sink removes the keys later.
   */
  async deregister(signal: AbortSignal): Promise<void> {
    const { run, link } = this.#options;
    // `supervise` is still running and would register the run again.
    this.#isDeregistered = true;
    await this.#ifRedisAnswers(signal, async (soon) => {
      await this.#runs.remove(run.record.run, soon);
      await sweepRun(link, run.record.run, soon);
    });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#queues.values(), this.#results].map((queue) => queue.close()));
  }

  async #followCommits(): Promise<void> {
    if (await this.#options.tail.poll()) this.#progressAt = performance.now();
    // Even without new commits: a shard may have become outstanding after its commit was counted.
    this.shards.settle();
  }

  /** Checks marker files, reported problems, the reason for a stall, and the deadline. */
  async #check(signal: AbortSignal): Promise<void> {
    await this.obeyMarkers(signal);
    const { run, claim } = this.#options;
    const answered = await this.#ifRedisAnswers(signal, async (soon) => {
      const problem = await this.#runs.takeProblem(run.record.run, claim.epoch, soon);
      if (problem !== null) throw new Failure(problem.kind, problem.message);
      this.#note = this.#paused ? 'paused' : await this.#stallReason(soon);
      if (await this.#isBeingFinished(soon)) this.#progressAt = performance.now();
    });
    if (!answered) this.#note = 'waiting for Redis';
    this.#checkDeadline();
  }

  /** Throws Failure('service') if the run made no progress for `maxWait`. */
  #checkDeadline(): void {
    const { maxWaitMs } = this.#options.run.record.config;
    const { oldest } = this.shards;
    if (oldest === null && this.#unfed.size === 0 && this.#finishing === null) {
      // Nothing to wait for: the feeder is still reading.
      this.#progressAt = performance.now();
      return;
    }
    if (performance.now() - this.#progressAt <= maxWaitMs) return;
    const missing = this.#finishing === null ? 'nothing was committed' : 'the run was not finished';
    const waits = this.#finishing === null ? 'no worker has come' : 'no sink has finished it';
    const why = oldest === null ? waits : `shard ${oldest.shard} is the oldest`;
    throw new Failure('service', `${missing} for ${formatDuration(maxWaitMs)}: ${this.#note ?? why}`);
  }

  /** Whether a live sink is finishing the run, which can take a long time. */
  async #isBeingFinished(signal: AbortSignal): Promise<boolean> {
    if (this.#finishing === null || this.#note !== null) return false;
    return this.#results.isActive(this.#finishing, signal);
  }

  async #stallReason(signal: AbortSignal): Promise<string | null> {
    const { run, link } = this.#options;
    const reason = await stallReason(link, { run: run.record.run, waitsFor: this.#waitsFor }, signal);
    if (reason !== null) return reason;
    const waited = performance.now() - this.shards.waitedForRoomAt < ROOM_NOTE_MS;
    return waited ? 'Redis is half full (maxmemory): feeding waits for room' : null;
  }

  /** Runs `talk` with a timeout, so that Redis cannot delay the checks of the run directory. Returns whether it finished. */
  async #ifRedisAnswers(signal: AbortSignal, talk: (soon: AbortSignal) => Promise<void>): Promise<boolean> {
    if (this.#options.link.away) return false;
    const late = AbortSignal.timeout(ANSWER_WITHIN_MS);
    try {
      await talk(AbortSignal.any([signal, late]));
      return true;
    } catch (error) {
      if (signal.aborted || !late.aborted || error instanceof Failure) throw error;
      return false;
    }
  }

  get #waitsFor(): Lane | 'end' | null {
    const { oldest } = this.shards;
    // The result of a settled shard waits only for a sink, as the run itself does in the end.
    if (oldest !== null) return oldest.isSettled ? 'end' : oldest.lane;
    const [unfed] = this.#unfed;
    return this.#finishing === null ? (unfed?.lane ?? null) : 'end';
  }

  #register(signal: AbortSignal): Promise<void> {
    const { run, claim } = this.#options;
    return this.#runs.register({ run: run.record.run, dir: run.dir, epoch: claim.epoch }, signal);
  }

  async #resubmitLost(signal: AbortSignal): Promise<void> {
    if (this.#isDeregistered) return;
    await this.#register(signal);
    // A worker may have returned shards to the queue since then.
    if (this.#paused) await this.shards.withdraw(signal);
    else await this.shards.resubmitLost(() => this.#followCommits(), signal);
  }
}

function unfinished(): Failure {
  return new Failure(
    'internal',
    'the run cannot be finished: not all of its shards are committed; resume it',
  );
}
