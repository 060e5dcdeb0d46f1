import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Judging } from '../../config/run-config.ts';
import type { Lane } from '../../domain/item.ts';
import { isMedia } from '../../domain/request.ts';
import { shardBytes, type Shard } from '../../domain/shard.ts';
import { WaitList } from '../../flow/wait-list.ts';
import type { RedisQueue, ValueState } from '../../queue/redis/redis-queue.ts';
import type { SinkJob } from '../jobs/result-job.ts';
import { shardJobCodec, type Landmark, type Landmarks, type ShardJob } from '../jobs/shard-job.ts';
import { LongRests } from './long-rests.ts';

/**
 * Maximum number of shards of a run that are fed and not committed: what eight workers at the default concurrency have in
 * flight. It bounds what a run has in Redis.
 */
export const OUTSTANDING_SHARDS = 256;
/** Maximum of their content, in bytes; a single larger shard goes alone. */
export const OUTSTANDING_BYTES = 64 * 1024 * 1024;

export interface OutstandingOptions {
  readonly run: string;
  /** See `recordSha256`. */
  readonly record: string;
  readonly epoch: number;
  readonly expectFingerprint: string | null;
  readonly judging: Judging;
  /** A file of each corpus, by the corpus's name. */
  readonly landmarks: Landmarks;
  readonly queueOf: (lane: Lane) => RedisQueue<ShardJob>;
  readonly results: RedisQueue<SinkJob>;
  /** Whether the verdict log has the shard, as of the last poll. */
  readonly isCommitted: (shard: number) => boolean;
  /** Whether Redis has room for this many more bytes. */
  readonly redisHasRoom: (bytes: number, signal: AbortSignal) => Promise<boolean>;
}

const LOOK_FOR_ROOM_EVERY_MS = 200;

interface Entry {
  readonly id: string;
  readonly shard: number;
  readonly lane: Lane;
  readonly bytes: number;
  /** The job as JSON: as objects, 65,536 items would be most of the heap. */
  readonly job: Buffer;
}

/**
 * The shards that a feeder has submitted to the fleet and that are not committed yet. They are kept until then, so that
 * they can be submitted again when Redis or a worker loses them.
 */
export class OutstandingShards {
  readonly #options: OutstandingOptions;
  readonly #entries = new Map<number, Entry>();
  readonly #changes = new WaitList();
  readonly #rests = new LongRests();
  #bytes = 0;
  #held = false;
  #waitedForRoomAt = Number.NEGATIVE_INFINITY;

  constructor(options: OutstandingOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The shard with the lowest number; null when there are none. */
  get oldest(): Pick<Shard, 'shard' | 'lane'> | null {
    let oldest: Entry | null = null;
    for (const entry of this.#entries.values()) {
      if (oldest === null || entry.shard < oldest.shard) oldest = entry;
    }
    return oldest;
  }

  /** When `submit` last waited because Redis had no room; on the clock of `performance.now`. */
  get waitedForRoomAt(): number {
    return this.#waitedForRoomAt;
  }

  /** While held, nothing more is submitted. */
  hold(held: boolean): void {
    this.#held = held;
    this.#changes.offerTurns();
  }

  /**
   * Puts a shard into its lane's queue; waits while the maximum is outstanding, or Redis has no room. When none is
   * outstanding it does not wait for room, so that a run makes progress beside whatever else fills Redis. A shard that
   * was committed during the wait is not put: workers and sink still process what an earlier feeder fed.
   */
  async submit(shard: Shard, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const bytes = shardBytes(shard.items);
    for (;;) {
      await this.#until(() => !this.#held && this.#hasRoom(bytes), signal);
      const room = this.#entries.size === 0 || (await this.#options.redisHasRoom(bytes, signal));
      // Nothing may be awaited between this check and the entry: a commit that was counted is not reported again.
      if (this.#options.isCommitted(shard.shard)) return;
      if (room && !this.#held) break;
      if (room) continue;
      this.#waitedForRoomAt = performance.now();
      await delay(LOOK_FOR_ROOM_EVERY_MS, undefined, { signal });
    }
    const { run, record, epoch, expectFingerprint, judging } = this.#options;
    const landmarks = this.#landmarksOf(shard);
    const job: ShardJob = { run, record, epoch, expectFingerprint, judging, landmarks, shard };
    this.#entries.set(shard.shard, entryOf(job, bytes));
    this.#bytes += bytes;
    await this.#options.queueOf(shard.lane).put(job, signal);
  }

  /** Removes what is committed by now. */
  settle(): void {
    for (const [shard, { bytes }] of this.#entries) {
      if (!this.#options.isCommitted(shard)) continue;
      this.#entries.delete(shard);
      this.#bytes -= bytes;
    }
    this.#changes.offerTurns();
  }

  /** Resolves when nothing is outstanding. */
  async drained(signal: AbortSignal): Promise<void> {
    const isDrained = (): boolean => this.#entries.size === 0;
    if (!isDrained()) await this.#until(isDrained, signal);
  }

  /**
   * Submits again what is in neither queue and not committed; returns how many shards that were. `poll` reads the new
   * commits of the verdict log. The order of the checks (shard queue, result queue, log) finds every shard that is under
   * way: a result is queued before its shard is acknowledged, and committed before it is acknowledged itself. Each check
   * asks for all shards at once, so that it costs one round trip. A job that is delayed for too long is woken.
   */
  async resubmitLost(poll: () => Promise<void>, signal: AbortSignal): Promise<number> {
    const { results } = this.#options;
    setMaxListeners(0, signal);
    const fed = await statesIn((entry) => this.#queueOf(entry), [...this.#entries.values()], signal);
    const lost = fed.filter(({ state }) => state === 'unknown').map(({ entry }) => entry);
    const judged = await statesIn(() => results, lost, signal);
    const missing = judged.filter(({ state }) => state === 'unknown').map(({ entry }) => entry);
    await this.#endLongRests([...fed, ...judged], signal);
    if (missing.length === 0) return 0;
    await poll();
    this.settle();
    const uncommitted = missing.filter(({ shard }) => this.#entries.has(shard));
    // What is left of a job that is in no state keeps BullMQ from adding another with its id.
    await Promise.all(
      uncommitted.flatMap((entry) =>
        [this.#queueOf(entry), results].map((queue) => queue.remove(entry.id, signal)),
      ),
    );
    // Put in ascending order, which is the order in which they are judged.
    await Promise.all(uncommitted.map((entry) => this.#queueOf(entry).put(jobOf(entry), signal)));
    return uncommitted.length;
  }

  async #endLongRests(seen: readonly Seen[], signal: AbortSignal): Promise<void> {
    const resting = new Map(
      seen.filter(({ state }) => state === 'resting').map(({ entry, queue }) => [entry.id, queue]),
    );
    const overdue = this.#rests.overdue(new Set(resting.keys()));
    await Promise.all(overdue.map((id) => resting.get(id)!.wake(id, signal)));
  }

  #queueOf({ lane }: Entry): RedisQueue<ShardJob> {
    return this.#options.queueOf(lane);
  }

  /** The landmarks of the corpora that the shard's media are in. */
  #landmarksOf({ items }: Shard): Landmarks {
    const found: Record<string, Landmark> = {};
    for (const { request } of items) {
      if (request === null || !isMedia(request)) continue;
      const { corpus } = request.file;
      const landmark = this.#options.landmarks[corpus];
      if (landmark !== undefined) found[corpus] = landmark;
    }
    return found;
  }

  #hasRoom(bytes: number): boolean {
    if (this.#entries.size === 0) return true;
    return this.#entries.size < OUTSTANDING_SHARDS && this.#bytes + bytes <= OUTSTANDING_BYTES;
  }

  #until(condition: () => boolean, signal: AbortSignal): Promise<void> {
    return this.#changes.wait(() => (condition() ? 'taken' : 'skipped'), signal);
  }
}

function entryOf(job: ShardJob, bytes: number): Entry {
  const { shard, lane } = job.shard;
  const json = JSON.stringify(shardJobCodec.encode(job));
  return { id: shardJobCodec.id(job), shard, lane, bytes, job: Buffer.from(json) };
}

function jobOf({ job }: Entry): ShardJob {
  return shardJobCodec.decode(JSON.parse(job.toString()));
}

interface Seen {
  readonly entry: Entry;
  readonly queue: StateQueue;
  readonly state: ValueState;
}

type StateQueue = Pick<RedisQueue<never>, 'state' | 'wake'>;

/** The state of each shard's job in its queue. */
async function statesIn(
  queueOf: (entry: Entry) => StateQueue,
  entries: readonly Entry[],
  signal: AbortSignal,
): Promise<Seen[]> {
  const seen = async (entry: Entry): Promise<Seen> => {
    const queue = queueOf(entry);
    return { entry, queue, state: await queue.state(entry.id, signal) };
  };
  return Promise.all(entries.map(seen));
}
