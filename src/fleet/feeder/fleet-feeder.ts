import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../../domain/failure.ts';
import { recordSha256 } from '../../config/run-config.ts';
import { shownDuration } from '../../domain/start-notice.ts';
import { landmarksOf } from '../../ingest/sources/corpus-roots.ts';
import { LANES, type Lane } from '../../domain/item.ts';
import { FleetRuns } from '../redis/fleet-runs.ts';
import { RedisHeadroom } from '../redis/redis-headroom.ts';
import { shardQueue, sinkQueue } from '../redis/fleet-queues.ts';
import type { RedisLink } from '../../queue/redis/link.ts';
import type { RedisQueue } from '../../queue/redis/redis-queue.ts';
import { finishJobId, type SinkJob } from '../jobs/result-job.ts';
import type { ShardJob } from '../jobs/shard-job.ts';
import { sweepRun } from '../redis/sweep-run.ts';
import type { Summary } from '../../record/summary/summary.ts';
import type { ChainTail } from '../../record/log/chain-tail.ts';
import { hasMarker } from '../../runs/control/control-files.ts';
import type { FeedClaim } from '../../runs/control/feed-claim.ts';
import type { Run } from '../../runs/create-run.ts';
import { LongRests } from './long-rests.ts';
import { OutstandingShards } from './outstanding-shards.ts';
import { stuckReason } from '../status/stall-reason.ts';

const LOOK_EVERY_MS = 100;
const MARKERS_EVERY_MS = 1000;
const FEED_AGAIN_EVERY_MS = 5000;
/** For so long it is said that feeding had to wait for room, so that it is not said again and again. */
const ROOM_SAID_FOR_MS = 60_000;
/** Redis answers in far less, when it does. */
const ANSWER_WITHIN_MS = 5000;

export interface FleetFeederOptions {
  readonly run: Run;
  readonly link: RedisLink;
  readonly claim: FeedClaim;
  readonly tail: ChainTail;
  readonly say: (message: string) => void;
}

/** A run that is planned to its end. */
export interface PlannedRun {
  /** The latest pass. */
  readonly pass: number;
  /** Shards of all passes. */
  readonly shards: number;
}

/** A feeder's side of the fleet: what it handed out, what came back, and what the run is asked to do. */
export class FleetFeeder {
  readonly shards: OutstandingShards;
  readonly #options: FleetFeederOptions;
  readonly #runs: FleetRuns;
  readonly #queues: ReadonlyMap<Lane, RedisQueue<ShardJob>>;
  readonly #results: RedisQueue<SinkJob>;
  #note: string | null = null;
  #paused = false;
  #back = false;
  #left = false;
  /** Name of the job that asks for the end of the run, while it is asked for. */
  #finishing: string | null = null;
  #progressAt = performance.now();

  constructor(options: FleetFeederOptions) {
    const { run, link } = options;
    this.#options = options;
    this.#runs = new FleetRuns(link);
    this.#queues = new Map(LANES.map((lane) => [lane, shardQueue(link, lane)]));
    this.#results = sinkQueue(link, run.record.run);
    const memory = new RedisHeadroom(link);
    this.shards = new OutstandingShards({
      run: run.record.run,
      record: recordSha256(run.record),
      epoch: options.claim.epoch,
      expectFingerprint: run.record.config.expectFingerprint,
      judging: run.record.config.judging,
      landmarks: landmarksOf(run.sources),
      queueOf: (lane) => this.#queues.get(lane)!,
      results: this.#results,
      isCommitted: (shard) => options.tail.isCommitted(shard),
      redisHasRoom: (bytes, signal) => memory.hasRoom(bytes, signal),
    });
  }

  /** What holds the run up, in a few words; null when nothing does. */
  get note(): string | null {
    return this.#note;
  }

  /** Does what marker files ask for at this moment: a run that is paused feeds nothing from its beginning. */
  async obey(signal: AbortSignal): Promise<void> {
    const { run, claim } = this.#options;
    await claim.assertCurrent();
    if (await hasMarker(run.dir, 'cancelled')) {
      await this.leave(signal);
      throw new Failure('interrupted', 'the run was cancelled');
    }
    const paused = await hasMarker(run.dir, 'paused');
    if (paused !== this.#paused) {
      this.#paused = paused;
      this.shards.hold(paused);
    }
    if (paused) this.#progressAt = performance.now();
  }

  /**
   * Makes the run known to the fleet, and looks after it until aborted: sees what is committed, feeds again what was lost, does what marker files ask
   * for. Rejects with a Failure: `superseded`, `interrupted` for a run that was cancelled, `service` when nothing
   * was committed, or no sink finished the run, for too long, and what a worker or sink reported.
   */
  async watch(signal: AbortSignal): Promise<never> {
    const endListening = this.#options.link.onBack(() => (this.#back = true));
    let markersAt = 0;
    let feedAgainAt = performance.now() + FEED_AGAIN_EVERY_MS;
    try {
      await this.#ifRedisAnswers(signal, (soon) => this.#register(soon));
      for (;;) {
        signal.throwIfAborted();
        await this.#look();
        const now = performance.now();
        if (now >= markersAt) {
          markersAt = now + MARKERS_EVERY_MS;
          await this.#control(signal);
        }
        if (this.#back || now >= feedAgainAt) {
          this.#back = false;
          feedAgainAt = now + FEED_AGAIN_EVERY_MS;
          await this.#ifRedisAnswers(signal, (soon) => this.#feedAgain(soon));
        }
        await delay(LOOK_EVERY_MS, undefined, { signal });
      }
    } finally {
      endListening();
    }
  }

  /**
   * Has the sink finish the run, and waits until it did. Failure('internal') when shards that were committed no longer
   * are: a sink that took the log over found them damaged.
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
        // What is all committed may be another process's work, which finishes it, too.
        await claim.assertCurrent();
        await this.#results.put(job, signal);
        await this.#whileAsked(id, signal);
        const summary = await read();
        if (summary !== null) return summary;
        await this.#look();
        if (this.#options.tail.shards < shards) throw unfinished();
        await delay(LOOK_EVERY_MS, undefined, { signal });
      }
    } finally {
      this.#finishing = null;
    }
  }

  /** Waits until the sink's queue does not hold the job any more. */
  async #whileAsked(id: string, signal: AbortSignal): Promise<void> {
    const rests = new LongRests();
    for (;;) {
      const state = await this.#results.state(id, signal);
      if (state === 'unknown') return;
      for (const overdue of rests.overdue(new Set(state === 'resting' ? [id] : []))) {
        await this.#results.wake(overdue, signal);
      }
      await delay(LOOK_EVERY_MS, undefined, { signal });
    }
  }

  /**
   * Takes the run out of the fleet: a run that is over leaves nothing in Redis. Where that is away, the run is over all
   * the same.
   */
  async leave(signal: AbortSignal): Promise<void> {
    const { run, link } = this.#options;
    // The run is still looked after, and would be announced again.
    this.#left = true;
    await this.#ifRedisAnswers(signal, async (soon) => {
      await this.#runs.remove(run.record.run, soon);
      await sweepRun(link, run.record.run, soon);
    });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#queues.values(), this.#results].map((queue) => queue.close()));
  }

  async #look(): Promise<void> {
    if (await this.#options.tail.poll()) this.#progressAt = performance.now();
    // Also without news: what is outstanding may have been counted before.
    this.shards.settle();
  }

  async #control(signal: AbortSignal): Promise<void> {
    await this.obey(signal);
    const { run, claim } = this.#options;
    const answered = await this.#ifRedisAnswers(signal, async (soon) => {
      const problem = await this.#runs.takeProblem(run.record.run, claim.epoch, soon);
      if (problem !== null) throw new Failure(problem.kind, problem.message);
      this.#note = this.#paused ? 'paused' : await this.#whatHoldsItUp(soon);
      if (await this.#isBeingFinished(soon)) this.#progressAt = performance.now();
    });
    if (!answered) this.#note = 'waiting for Redis';
    this.#checkDeadline();
  }

  /** Throws Failure('service') when the run got no further for longer than it may. */
  #checkDeadline(): void {
    const { maxWaitMs } = this.#options.run.record.config;
    const { oldest } = this.shards;
    if (oldest === null && this.#finishing === null) return;
    if (performance.now() - this.#progressAt <= maxWaitMs) return;
    const missing = oldest === null ? 'the run was not finished' : 'nothing was committed';
    const why = oldest === null ? 'no sink takes that on' : `shard ${oldest.shard} is the oldest`;
    throw new Failure('service', `${missing} for ${shownDuration(maxWaitMs)}: ${this.#note ?? why}`);
  }

  /** Whether a sink that is alive has been told to finish the run: it may take long for it. */
  async #isBeingFinished(signal: AbortSignal): Promise<boolean> {
    if (this.#finishing === null || this.#note !== null) return false;
    return (await this.#results.state(this.#finishing, signal)) === 'active';
  }

  async #whatHoldsItUp(signal: AbortSignal): Promise<string | null> {
    const { run, link } = this.#options;
    const waitsFor = this.shards.oldest?.lane ?? (this.#finishing === null ? null : 'end');
    const stuck = await stuckReason(link, { run: run.record.run, waitsFor }, signal);
    if (stuck !== null) return stuck;
    const waited = performance.now() - this.shards.waitedForRoomAt < ROOM_SAID_FOR_MS;
    return waited ? 'Redis is half full (maxmemory): feeding waits for room' : null;
  }

  /**
   * Talks to Redis, but not for so long that the run's own directory is lost sight of. Gives whether Redis answered.
   */
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

  #register(signal: AbortSignal): Promise<void> {
    const { run, claim } = this.#options;
    return this.#runs.register({ run: run.record.run, dir: run.dir, epoch: claim.epoch }, signal);
  }

  async #feedAgain(signal: AbortSignal): Promise<void> {
    if (this.#left) return;
    await this.#register(signal);
    await this.shards.feedAgain(() => this.#look(), signal);
  }
}

function unfinished(): Failure {
  return new Failure(
    'internal',
    'the run cannot be finished: not all of its shards are committed; resume it',
  );
}
