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
import { settledMark } from '../jobs/settled-mark.ts';
import { OverdueDelays } from './overdue-delays.ts';

/**
 * Maximum number of shards of a run that are fed and not committed: what eight workers at the default concurrency have in
 * flight. It bounds a run's memory in Redis.
 */
export const MAX_OUTSTANDING_SHARDS = 256;
/** Maximum content of these shards, in bytes; a single larger shard is fed when no other is outstanding. */
const MAX_OUTSTANDING_BYTES = 64 * 1024 * 1024;

interface OutstandingOptions {
  readonly run: string;
  /** See `recordSha256`. */
  readonly record: string;
  readonly epoch: number;
  /** The key of the feeder's claim. */
  readonly key: string;
  readonly expectFingerprint: string | null;
  readonly judging: Judging;
  /** One file of each corpus, by corpus name. */
  readonly landmarks: Landmarks;
  readonly queueOf: (lane: Lane) => RedisQueue<ShardJob>;
  readonly results: RedisQueue<SinkJob>;
  /** Whether the verdict log has the shard, as of the last poll. */
  readonly isCommitted: (shard: number) => boolean;
  /** Whether Redis has room for `bytes` more. */
  readonly redisHasRoom: (bytes: number, signal: AbortSignal) => Promise<boolean>;
}

const LOOK_FOR_ROOM_EVERY_MS = 200;

interface Entry {
  readonly id: string;
  readonly shard: number;
  readonly lane: Lane;
  readonly bytes: number;
  /** The job as JSON: 65,536 items as objects would take most of the heap. */
  readonly job: Buffer;
}

/**
 * The shards that a feeder has submitted and that are not committed yet. It keeps them, so that it can submit them again
 * when Redis or a worker loses them.
 */
export class OutstandingShards {
  readonly #options: OutstandingOptions;
  readonly #entries = new Map<number, Entry>();
  readonly #changes = new WaitList();
  readonly #delays = new OverdueDelays();
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

  /** When `submit` last waited because Redis had no room, as of `performance.now`. */
  get waitedForRoomAt(): number {
    return this.#waitedForRoomAt;
  }

  /** While held, nothing more is submitted. */
  hold(held: boolean): void {
    this.#held = held;
    this.#changes.offerTurns();
  }

  /**
   * Puts a shard into its lane's queue; waits while the maximum is outstanding or Redis has no room. With nothing
   * outstanding it does not wait for room in Redis, so that a run makes progress even if other data fills Redis. A shard
   * that was committed during the wait is not queued: workers and sink still process shards of an earlier feeder.
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
    const { run, record, epoch, key, expectFingerprint, judging } = this.#options;
    const marks = { landmarks: this.#landmarksOf(shard), settledMark: settledMark(key, shard) };
    const job: ShardJob = { run, record, epoch, expectFingerprint, judging, ...marks, shard };
    this.#entries.set(shard.shard, entryOf(job, bytes));
    this.#bytes += bytes;
    await this.#options.queueOf(shard.lane).put(job, signal);
  }

  /** Removes the shards that are committed by now. */
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
   * Resubmits shards that are in neither queue and not committed; returns their number. `poll` reads new commits from the
   * verdict log. The order of the checks (shard queue, result queue, log) matters: a result is queued before its shard is
   * acknowledged, and committed before it is acknowledged itself, so no shard in flight is missed. Each check asks for
   * all shards at once, which costs one round trip. A job that is delayed for too long is promoted.
   */
  async resubmitLost(poll: () => Promise<void>, signal: AbortSignal): Promise<number> {
    const { results } = this.#options;
    setMaxListeners(0, signal);
    const fed = await statesIn((entry) => this.#queueOf(entry), [...this.#entries.values()], signal);
    const lost = fed.filter(({ state }) => state === 'unknown').map(({ entry }) => entry);
    const judged = await statesIn(() => results, lost, signal);
    const missing = judged.filter(({ state }) => state === 'unknown').map(({ entry }) => entry);
    await this.#promoteOverdue([...fed, ...judged], signal);
    if (missing.length === 0) return 0;
    await poll();
    this.settle();
    const uncommitted = missing.filter(({ shard }) => this.#entries.has(shard));
    // Leftover keys of a job that is in no state keep BullMQ from adding another job with its id.
    await Promise.all(
      uncommitted.flatMap((entry) =>
        [this.#queueOf(entry), results].map((queue) => queue.remove(entry.id, signal)),
      ),
    );
    // In ascending order, which is the order in which they are judged.
    await Promise.all(uncommitted.map((entry) => this.#queueOf(entry).put(jobOf(entry), signal)));
    return uncommitted.length;
  }

  async #promoteOverdue(seen: readonly Seen[], signal: AbortSignal): Promise<void> {
    const delayed = new Map(
      seen.filter(({ state }) => state === 'delayed').map(({ entry, queue }) => [entry.id, queue]),
    );
    const overdue = this.#delays.overdue(new Set(delayed.keys()));
    await Promise.all(overdue.map((id) => delayed.get(id)!.wake(id, signal)));
  }

  #queueOf({ lane }: Entry): RedisQueue<ShardJob> {
    return this.#options.queueOf(lane);
  }

  /** The landmarks of the corpora that contain the shard's media. */
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
    return this.#entries.size < MAX_OUTSTANDING_SHARDS && this.#bytes + bytes <= MAX_OUTSTANDING_BYTES;
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
