import { type RedisLink } from './link.ts';
import { patiently } from './patience.ts';
import { isPresent } from './presence.ts';

/** What is known of the workers that did not come to the end of a shard. */
export interface Deaths {
  /** Workers that died, or failed, while they had the shard. */
  readonly ofShard: number;
  /** Of those, by seq, the ones that had just this item in hand. */
  readonly ofItem: ReadonlyMap<number, number>;
}

/** Notes outlive the jobs they are about, which a later feeder names anew; they end with the shard, or after a day. */
const KEPT_SECONDS = 86_400;

const HAS = 'has:';
const ITEM = 'item:';
const DEATHS = 'deaths';
const ITEM_DEATHS = 'deaths:';

/**
 * Notes of which worker has which shard, and which item, in hand. A worker that is gone without having crossed out
 * its note died of something: that is how an item that kills workers is found.
 */
export class DeathNotes {
  readonly #link: RedisLink;
  readonly #worker: string;

  /** `worker` is the id under which the process announces itself (`Presence`). */
  constructor(link: RedisLink, worker: string) {
    this.#link = link;
    this.#worker = worker;
  }

  /** Takes a shard in hand: settles the notes of the dead, then adds its own. */
  async begin(shard: string, signal: AbortSignal): Promise<Deaths> {
    const { redis } = this.#link;
    const key = this.#key(shard);
    const notes = await patiently(() => redis.hgetall(key), signal);
    for (const [field, value] of Object.entries(notes)) {
      if (field.startsWith(HAS)) await this.#settle(key, field, DEATHS, signal);
      else if (field.startsWith(ITEM)) await this.#settle(key, field, ITEM_DEATHS + value, signal);
    }
    const after = Object.keys(notes).length === 0 ? notes : await patiently(() => redis.hgetall(key), signal);
    await patiently(async () => {
      await redis.hset(key, HAS + this.#worker, '1');
      await redis.expire(key, KEPT_SECONDS);
    }, signal);
    const ofItem = new Map<number, number>();
    for (const [field, value] of Object.entries(after)) {
      if (field.startsWith(ITEM_DEATHS)) ofItem.set(Number(field.slice(ITEM_DEATHS.length)), Number(value));
    }
    return { ofShard: Number(after[DEATHS] ?? 0), ofItem };
  }

  /** Notes that the worker is about to judge just this item of the shard. */
  async beginItem(shard: string, seq: number, signal: AbortSignal): Promise<void> {
    const key = this.#key(shard);
    await patiently(() => this.#link.redis.hset(key, ITEM + this.#worker, String(seq)), signal);
  }

  /** The item did no harm. */
  async endItem(shard: string, signal: AbortSignal): Promise<void> {
    const key = this.#key(shard);
    await patiently(() => this.#link.redis.hdel(key, ITEM + this.#worker), signal);
  }

  /** Gives the shard back without blame. */
  async release(shard: string, signal: AbortSignal): Promise<void> {
    const key = this.#key(shard);
    await patiently(() => this.#link.redis.hdel(key, HAS + this.#worker, ITEM + this.#worker), signal);
  }

  /** Counts a failure of this worker like a death; of the item that it had in hand, too. */
  async blame(shard: string, seq: number | null, signal: AbortSignal): Promise<void> {
    const key = this.#key(shard);
    await this.release(shard, signal);
    await patiently(() => this.#link.redis.hincrby(key, DEATHS, 1), signal);
    if (seq !== null)
      await patiently(() => this.#link.redis.hincrby(key, ITEM_DEATHS + String(seq), 1), signal);
  }

  /** The shard is done: nothing of it is remembered. */
  async forget(shard: string, signal: AbortSignal): Promise<void> {
    await patiently(() => this.#link.redis.del(this.#key(shard)), signal);
  }

  /** Turns the note of a worker that is gone into a death; whoever removes the note counts it. */
  async #settle(key: string, field: string, count: string, signal: AbortSignal): Promise<void> {
    const { redis } = this.#link;
    const worker = field.slice(field.indexOf(':') + 1);
    if (worker === this.#worker || (await isPresent(this.#link, 'worker', worker, signal))) return;
    if ((await patiently(() => redis.hdel(key, field), signal)) === 1) {
      await patiently(() => redis.hincrby(key, count, 1), signal);
    }
  }

  #key(shard: string): string {
    return this.#link.key('deaths', shard);
  }
}
