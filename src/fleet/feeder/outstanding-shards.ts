import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Judging, Priority } from '../../config/run-config.ts';
import type { Lane } from '../../domain/item.ts';
import type { Policy } from '../../domain/policy.ts';
import { collectReusedFingerprints, shardBytes, type Shard } from '../../domain/shard.ts';
import { WaitList } from '../../flow/wait-list.ts';
import type { EncodedJob, RedisQueue } from '../../queue/redis/redis-queue.ts';
import type { ResultJob, SinkJob } from '../jobs/result-job.ts';
import type { ShardJob } from '../jobs/shard-job.ts';
import { settledMark } from '../jobs/settled-mark.ts';

/**
 * Maximum shards of a run that are fed but not committed: the number that eight workers at the default concurrency have
 * in flight. Bounds a run's memory in Redis.
 */
export const MAX_OUTSTANDING_SHARDS = 256;
/** Maximum content of these shards, in bytes; a single larger shard is fed only when no other is outstanding. */
const MAX_OUTSTANDING_BYTES = 64 * 1024 * 1024;
/**
 * Maximum of them whose results go straight to the sink: half the capacity of its queue. A worker that finds no room
 * there returns its shard, which is then judged again.
 */
const MAX_SETTLED_SHARDS = 32;

/**
 * A lane's queue is shared by all runs and hands out the lowest turn first. A run's turns are this far apart, so each
 * step up in priority triples its share of the workers.
 */
const STEPS: Readonly<Record<Priority, number>> = { high: 1 / 9, normal: 1 / 3, low: 1 };
/**
 * The highest turn that BullMQ accepts. A queue that is never empty for two million turns becomes first in, first out
 * until it is.
 */
const LAST_TURN = 2 ** 21;

interface OutstandingOptions {
  readonly run: string;
  /** See `recordSha256`. */
  readonly record: string;
  readonly epoch: number;
  /** Key of the feeder's claim. */
  readonly key: string;
  readonly expectFingerprint: string | null;
  /** See `ShardJob`. */
  readonly workerGuards: readonly string[] | null;
  readonly judging: Judging;
  readonly priority: Priority;
  /** See `ShardJob`. */
  readonly contentPolicy: Policy | null;
  readonly queueOf: (lane: Lane) => RedisQueue<ShardJob>;
  readonly results: RedisQueue<SinkJob>;
  /** Whether the verdict log contains the shard, as of the last poll. */
  readonly isCommitted: (shard: number) => boolean;
  /** Whether Redis has room for another `bytes`. */
  readonly redisHasRoom: (bytes: number, signal: AbortSignal) => Promise<boolean>;
}

const LOOK_FOR_ROOM_EVERY_MS = 200;

/** Encoded as bytes, because 131,072 items as objects would take most of the heap. */
interface Entry extends EncodedJob {
  readonly shard: number;
  readonly lane: Lane;
  /** Whether all items are settled, in which case its result goes straight to the sink. */
  readonly isSettled: boolean;
  /** Size of its content, in bytes. */
  readonly size: number;
}

/**
 * Shards that a feeder has submitted and that are not committed yet. Keeps them to submit them again if Redis or a
 * worker loses them.
 */
export class OutstandingShards {
  readonly #options: OutstandingOptions;
  readonly #entries = new Map<number, Entry>();
  /** Shards that are being added to a queue: not in any queue yet, but not lost. */
  readonly #submitting = new Set<number>();
  readonly #changes = new WaitList();
  readonly #nextTurns = new Map<Lane, { readonly round: string; readonly turn: number }>();
  #bytes = 0;
  #settled = 0;
  #held = false;
  #waitedForRoomAt = Number.NEGATIVE_INFINITY;

  constructor(options: OutstandingOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The shard with the lowest number; null if there is none. */
  get oldest(): Pick<Entry, 'shard' | 'lane' | 'isSettled'> | null {
    let oldest: Entry | null = null;
    for (const entry of this.#entries.values()) {
      if (oldest === null || entry.shard < oldest.shard) oldest = entry;
    }
    return oldest;
  }

  /** Time of `performance.now` at which `submit` last waited because Redis had no room. */
  get waitedForRoomAt(): number {
    return this.#waitedForRoomAt;
  }

  /** While held, no shard is submitted or resubmitted. See `withdraw`. */
  hold(held: boolean): void {
    this.#held = held;
    this.#changes.offerTurns();
  }

  /** Removes shards from the queues if no worker has taken them yet. `resubmitLost` submits them again. */
  async withdraw(signal: AbortSignal): Promise<void> {
    const waiting = [...this.#entries.values()].filter(({ isSettled }) => !isSettled);
    await Promise.all(waiting.map(({ lane, id }) => this.#options.queueOf(lane).remove(id, signal)));
  }

  /**
   * Adds a shard to its lane's queue or, if all its items are settled, its result to the sink's queue. Waits while the
   * maximum is outstanding or Redis has no room. If nothing is outstanding, it does not wait for room in Redis, so a
   * run makes progress even if other data fills Redis. A shard that was committed during the wait is not queued:
   * workers and sink still process shards of an earlier feeder.
   */
  async submit(shard: Shard, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const bytes = shardBytes(shard.items);
    const isSettled = shard.items.every(({ settled }) => settled !== null);
    for (;;) {
      await this.#until(() => !this.#held && this.#hasRoom(bytes, isSettled), signal);
      const room = this.#entries.size === 0 || (await this.#options.redisHasRoom(bytes, signal));
      // There must be no await between this check and adding the entry: a commit that was counted is not reported
      // again.
      if (this.#options.isCommitted(shard.shard)) return;
      if (room && !this.#held) break;
      if (room) continue;
      this.#waitedForRoomAt = performance.now();
      await delay(LOOK_FOR_ROOM_EVERY_MS, undefined, { signal });
    }
    const entry = this.#entryOf(shard, bytes, isSettled);
    this.#entries.set(shard.shard, entry);
    this.#bytes += bytes;
    if (isSettled) this.#settled++;
    await this.#put(entry, signal);
  }

  /** Removes shards that have been committed. */
  settle(): void {
    for (const [shard, { size, isSettled }] of this.#entries) {
      if (!this.#options.isCommitted(shard)) continue;
      this.#entries.delete(shard);
      this.#bytes -= size;
      if (isSettled) this.#settled--;
    }
    this.#changes.offerTurns();
  }

  /** Resolves when nothing is outstanding. */
  async drained(signal: AbortSignal): Promise<void> {
    const isDrained = (): boolean => this.#entries.size === 0;
    if (!isDrained()) await this.#until(isDrained, signal);
  }

  /**
   * Resubmits shards that are in neither queue and not committed; returns their number. `poll` reads new commits from
   * the verdict log. The order of the checks (shard queue, result queue, log) matters: a result is queued before its
   * shard is acknowledged, and committed before it is acknowledged itself, so no shard in flight is missed. Each check
   * covers all shards in one round trip.
   */
  async resubmitLost(poll: () => Promise<void>, signal: AbortSignal): Promise<number> {
    const { results } = this.#options;
    if (this.#held) return 0;
    setMaxListeners(0, signal);
    const submitted = [...this.#entries.values()].filter(({ shard }) => !this.#submitting.has(shard));
    const lost = await notIn((entry) => this.#queueOf(entry), submitted, signal);
    const missing = await notIn(() => results, lost, signal);
    if (missing.length === 0) return 0;
    await poll();
    this.settle();
    const uncommitted = missing.filter(({ shard }) => this.#entries.has(shard));
    // Leftover keys of a job that is in no state prevent BullMQ from adding another job with its id.
    await Promise.all(
      uncommitted.flatMap((entry) =>
        [this.#queueOf(entry), results].map((queue) => queue.remove(entry.id, signal)),
      ),
    );
    // In ascending order, in which they are judged.
    await Promise.all(uncommitted.map((entry) => this.#put(entry, signal)));
    return uncommitted.length;
  }

  /** The first queue that a shard goes through. */
  #queueOf({ lane, isSettled }: Entry): AnyQueue {
    return isSettled ? this.#options.results : this.#options.queueOf(lane);
  }

  #entryOf(shard: Shard, size: number, isSettled: boolean): Entry {
    const { run, record, epoch, key, expectFingerprint, workerGuards, judging, contentPolicy, results } =
      this.#options;
    const mark = settledMark(key, shard);
    const of = { shard: shard.shard, lane: shard.lane, isSettled, size };
    if (isSettled) {
      const fingerprints = [...collectReusedFingerprints(shard.items).values()];
      const result = { shard, outcomes: shard.items.map(() => null), fingerprints };
      const job: ResultJob = { kind: 'result', run, record, epoch, settledMark: mark, result };
      return { ...of, ...results.encode(job) };
    }
    const settings = { expectFingerprint, workerGuards, judging, contentPolicy };
    const job: ShardJob = { run, record, epoch, ...settings, settledMark: mark, shard };
    return { ...of, ...this.#options.queueOf(shard.lane).encode(job) };
  }

  async #put(entry: Entry, signal: AbortSignal): Promise<void> {
    this.#submitting.add(entry.shard);
    try {
      await this.#enqueue(entry, signal);
    } finally {
      this.#submitting.delete(entry.shard);
    }
  }

  async #enqueue(entry: Entry, signal: AbortSignal): Promise<void> {
    const { id, lane } = entry;
    if (entry.isSettled) return this.#options.results.putEncoded(entry, signal);
    const queue = this.#options.queueOf(lane);
    await queue.putEncoded(entry, signal, await this.#takeTurn(lane, signal));
    if (this.#held) await queue.remove(id, signal);
  }

  /**
   * Start-time fair queueing (Goyal, Vin and Cheng, 1996): a turn is one step after the run's last one, but never
   * before the turn that is due. A run that starts later goes next, and no run is overtaken forever.
   */
  async #takeTurn(lane: Lane, signal: AbortSignal): Promise<number> {
    const { round, due } = await this.#options.queueOf(lane).dueTurn(signal);
    const next = this.#nextTurns.get(lane);
    const turn = Math.min(next?.round === round ? Math.max(next.turn, due) : due, LAST_TURN);
    this.#nextTurns.set(lane, { round, turn: turn + STEPS[this.#options.priority] });
    return Math.floor(turn);
  }

  #hasRoom(bytes: number, isSettled: boolean): boolean {
    if (this.#entries.size === 0) return true;
    if (isSettled && this.#settled >= MAX_SETTLED_SHARDS) return false;
    return this.#entries.size < MAX_OUTSTANDING_SHARDS && this.#bytes + bytes <= MAX_OUTSTANDING_BYTES;
  }

  #until(condition: () => boolean, signal: AbortSignal): Promise<void> {
    return this.#changes.wait(() => (condition() ? 'taken' : 'skipped'), signal);
  }
}

/** Operations of a queue that do not depend on its values. */
type AnyQueue = Pick<RedisQueue<never>, 'has' | 'remove'>;

/** Returns the shards that have no job in their queue. */
async function notIn(
  queueOf: (entry: Entry) => AnyQueue,
  entries: readonly Entry[],
  signal: AbortSignal,
): Promise<Entry[]> {
  const found = await Promise.all(entries.map((entry) => queueOf(entry).has(entry.id, signal)));
  return entries.filter((_, at) => !found[at]);
}
