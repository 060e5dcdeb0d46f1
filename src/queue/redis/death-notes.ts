import type { Shard } from '../../domain/shard.ts';
import type { RedisLink } from './link.ts';
import { patiently } from './patience.ts';
import { isPresent } from './presence.ts';
import { removeKeysBelow } from './remove-keys.ts';

/** What is known of the workers that did not come to the end of a shard. */
export interface Deaths {
  /** Workers that died, or failed, while they had the shard. */
  readonly ofShard: number;
  /** By seq: workers in a row that died while the item was among the few they had noted. */
  readonly ofItem: ReadonlyMap<number, number>;
}

/** Notes outlive the jobs they are about, which a later feeder names anew; they end with shard or run, or after a day. */
const KEPT_SECONDS = 86_400;

const FOLDER = 'deaths';
const HAS = 'has:';
const ITEMS = 'items:';
const DEATHS = 'deaths';
const ITEM_DEATHS = 'deaths:';

/**
 * Notes of which worker has which shard, and which items of it, in hand. A worker that is gone without having crossed
 * out its note died of something: that is how an item that kills workers is found. What somebody judged and lived
 * is cleared of every death before, so that those count that come one upon the other.
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
    const key = this.#key(shard);
    const notes = await this.#read(key, signal);
    for (const [field, value] of Object.entries(notes)) {
      if (field.startsWith(HAS)) await this.#settle(key, field, [DEATHS], signal);
      else if (field.startsWith(ITEMS)) await this.#settle(key, field, deathFields(parseSeqs(value)), signal);
    }
    const after = Object.keys(notes).length === 0 ? notes : await this.#read(key, signal);
    await this.#write(key, HAS + this.#worker, '1', signal);
    const ofItem = new Map<number, number>();
    for (const [field, value] of Object.entries(after)) {
      if (field.startsWith(ITEM_DEATHS)) ofItem.set(Number(field.slice(ITEM_DEATHS.length)), Number(value));
    }
    return { ofShard: Number(after[DEATHS] ?? 0), ofItem };
  }

  /** Notes that the worker is about to judge just these items of the shard. */
  async beginItems(shard: string, seqs: readonly number[], signal: AbortSignal): Promise<void> {
    await this.#write(this.#key(shard), ITEMS + this.#worker, seqs.join(','), signal);
  }

  /** The items did no harm: no earlier death was theirs either. */
  async endItems(shard: string, seqs: readonly number[], signal: AbortSignal): Promise<void> {
    const key = this.#key(shard);
    const fields = [ITEMS + this.#worker, ...deathFields(seqs)];
    await patiently(() => this.#link.redis.hdel(key, ...fields), signal);
  }

  /** Gives the shard back without blame. */
  async release(shard: string, signal: AbortSignal): Promise<void> {
    const key = this.#key(shard);
    await patiently(() => this.#link.redis.hdel(key, HAS + this.#worker, ITEMS + this.#worker), signal);
  }

  /** Counts a failure of this worker like a death; for the items that it had noted, too. */
  async blame(shard: string, seqs: readonly number[], signal: AbortSignal): Promise<void> {
    await this.release(shard, signal);
    await this.#count(this.#key(shard), [DEATHS, ...deathFields(seqs)], signal);
  }

  /** The shard is done: nothing of it is remembered. */
  async forget(shard: string, signal: AbortSignal): Promise<void> {
    await patiently(() => this.#link.redis.del(this.#key(shard)), signal);
  }

  /** Turns the note of a worker that is gone into a death; whoever removes the note counts it. */
  async #settle(key: string, note: string, deaths: readonly string[], signal: AbortSignal): Promise<void> {
    const worker = note.slice(note.indexOf(':') + 1);
    if (worker === this.#worker || (await isPresent(this.#link, 'worker', worker, signal))) return;
    const removed = await patiently(() => this.#link.redis.hdel(key, note), signal);
    if (removed === 1) await this.#count(key, deaths, signal);
  }

  async #count(key: string, fields: readonly string[], signal: AbortSignal): Promise<void> {
    await Promise.all(
      fields.map((field) => patiently(() => this.#link.redis.hincrby(key, field, 1), signal)),
    );
  }

  #read(key: string, signal: AbortSignal): Promise<Record<string, string>> {
    return patiently(() => this.#link.redis.hgetall(key), signal);
  }

  /** Whatever is written gives the key its end again: another worker may have removed it meanwhile. */
  async #write(key: string, field: string, value: string, signal: AbortSignal): Promise<void> {
    const { redis } = this.#link;
    await patiently(
      () => Promise.all([redis.hset(key, field, value), redis.expire(key, KEPT_SECONDS)]),
      signal,
    );
  }

  #key(shard: string): string {
    return this.#link.key(FOLDER, shard);
  }
}

/** Name of a shard in the notes, whoever feeds it. */
export function notedShard(run: string, { pass, shard }: Pick<Shard, 'pass' | 'shard'>): string {
  return `${run}:${pass}-${shard}`;
}

/** Removes what was noted of a run that is over: a worker may have died over a shard that another one finished. */
export function forgetDeathsOf(run: string, link: RedisLink, signal: AbortSignal): Promise<void> {
  return removeKeysBelow(link, [FOLDER, run], signal);
}

function parseSeqs(note: string): number[] {
  return note.split(',').map(Number);
}

function deathFields(seqs: readonly number[]): string[] {
  return seqs.map((seq) => ITEM_DEATHS + String(seq));
}
