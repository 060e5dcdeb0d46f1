import { randomBytes } from 'node:crypto';
import type { Shard } from '../../domain/shard.ts';
import type { RedisLink } from '../../queue/redis/link.ts';
import { retryWhileTransient } from '../../queue/redis/retry-while-transient.ts';
import { isPresent } from './presence.ts';
import type { SealedPlace } from '../../queue/redis/sealing/fleet-seal.ts';

/** How many workers did not finish a shard. */
export interface Deaths {
  /** Workers that died, or failed, while they had the shard. */
  readonly ofShard: number;
  /** By seq: workers in a row that died while they had noted the item. */
  readonly ofItem: ReadonlyMap<number, number>;
}

/** Notes outlive their jobs, since a later feeder uses other job ids. They are removed with the shard or run, or expire after a day. */
const NOTES_TTL_SECONDS = 86_400;

/** Maximum notes per shard: four deaths for each of its 512 items, the same number for the shard itself, and a few dozen workers. */
const MAX_NOTES = 8192;
const MAX_FIELD = 128;
/** An id and 64 seqs, sealed. */
const MAX_NOTE = 2048;

/** All fields and values; null when there are more, or larger ones, than workers can have written. */
const READ = `
if redis.call('HLEN', KEYS[1]) > tonumber(ARGV[1]) then return false end
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  if #field > tonumber(ARGV[2]) or redis.call('HSTRLEN', KEYS[1], field) > tonumber(ARGV[3]) then return false end
end
return redis.call('HGETALL', KEYS[1])`;

const FOLDER = 'deaths';
const HAS = 'has:';
const ITEMS = 'items:';
const DEATH = 'death:';
const ID_BYTES = 12;

/**
 * Notes of which worker is judging which shard, and which of its items. A worker that is gone and left its note died while
 * judging, which identifies an item that crashes workers. When a worker survives an item, the item's earlier deaths are
 * removed, so that only consecutive ones count.
 */
export class DeathNotes {
  readonly #link: RedisLink;
  readonly #worker: string;

  /** `worker`: the id under which this process announces itself (`Presence`). */
  constructor(link: RedisLink, worker: string) {
    this.#link = link;
    this.#worker = worker;
  }

  /** Begins a shard: turns the notes of dead workers into deaths, then adds this worker's note. */
  async begin(shard: string, signal: AbortSignal): Promise<Deaths> {
    const notes = await this.#read(shard, signal);
    for (const note of notes.workerNotes) await this.#settle(shard, note, signal);
    const { deaths } = notes.workerNotes.length === 0 ? notes : await this.#read(shard, signal);
    await this.#write(shard, [[HAS + this.#worker, newId()]], signal);
    return countOf(deaths);
  }

  /** Notes that the worker is about to judge only these items of the shard. */
  async beginItems(shard: string, seqs: readonly number[], signal: AbortSignal): Promise<void> {
    await this.#write(shard, [[ITEMS + this.#worker, `${newId()} ${seqs.join(',')}`]], signal);
  }

  /** The worker survived the items, so they did not cause the earlier deaths either: those are removed. */
  async endItems(shard: string, seqs: readonly number[], signal: AbortSignal): Promise<void> {
    const { deaths } = await this.#read(shard, signal);
    const cleared = deaths.filter(({ seq }) => seq !== null && seqs.includes(seq));
    await this.#remove(shard, [ITEMS + this.#worker, ...cleared.map(({ field }) => field)], signal);
  }

  /** Removes this worker's notes without counting a death. */
  async release(shard: string, signal: AbortSignal): Promise<void> {
    await this.#remove(shard, [HAS + this.#worker, ITEMS + this.#worker], signal);
  }

  /** Counts a failure of this worker as a death, also of the items that it had noted. */
  async blame(shard: string, seqs: readonly number[], signal: AbortSignal): Promise<void> {
    await this.release(shard, signal);
    const id = newId();
    await this.#write(shard, [deathOf(id, null), ...seqs.map((seq) => deathOf(id, seq))], signal);
  }

  /** The shard is done: removes all its notes. */
  async forget(shard: string, signal: AbortSignal): Promise<void> {
    await retryWhileTransient(() => this.#link.redis.del(this.#key(shard)), signal);
  }

  /** Turns the note of a dead worker into a death. If several workers race, the one that removes the note counts it. */
  async #settle(shard: string, { field, worker, id, seqs }: WorkerNote, signal: AbortSignal): Promise<void> {
    if (worker === this.#worker || (await isPresent(this.#link, 'worker', worker, signal))) return;
    if ((await this.#remove(shard, [field], signal)) === 0) return;
    const deaths = seqs === null ? [deathOf(id, null)] : seqs.map((seq) => deathOf(id, seq));
    await this.#write(shard, deaths, signal);
  }

  /** All notes of a shard. If one of them cannot be a worker's, all are distrusted and removed. */
  async #read(shard: string, signal: AbortSignal): Promise<Notes> {
    const key = this.#key(shard);
    const ask = (): Promise<unknown> => this.#link.redis.eval(READ, 1, key, MAX_NOTES, MAX_FIELD, MAX_NOTE);
    const read = (await retryWhileTransient(ask, signal)) as readonly string[] | null;
    const notes = read === null ? null : parseNotes(this.#opened(shard, read));
    if (notes !== null) return notes;
    this.#link.skipped.skip(key, 'held notes that are malformed or forged; removed');
    await retryWhileTransient(() => this.#link.redis.unlink(key), signal);
    return { workerNotes: [], deaths: [] };
  }

  /** Fields with their plaintext, from alternating fields and values; null for a value that does not open. */
  #opened(shard: string, read: readonly string[]): [field: string, text: string | null][] {
    const { seal } = this.#link;
    return Array.from({ length: read.length / 2 }, (_, at) => {
      const [field, value] = [read[2 * at]!, read[2 * at + 1]!];
      return [field, seal === null ? value : seal.open(placeOf(shard, field), value)];
    });
  }

  /** Each write also sets the expiry: another worker may have removed the key in between. */
  async #write(
    shard: string,
    notes: readonly (readonly [field: string, text: string])[],
    signal: AbortSignal,
  ): Promise<void> {
    const { redis, seal } = this.#link;
    const key = this.#key(shard);
    const values = notes.flatMap(([field, text]) => [
      field,
      seal === null ? text : seal.seal(placeOf(shard, field), text),
    ]);
    await retryWhileTransient(
      () => Promise.all([redis.hset(key, ...values), redis.expire(key, NOTES_TTL_SECONDS)]),
      signal,
    );
  }

  /** Returns how many of the fields existed. */
  #remove(shard: string, fields: readonly string[], signal: AbortSignal): Promise<number> {
    const key = this.#key(shard);
    return retryWhileTransient(() => this.#link.redis.hdel(key, ...fields), signal);
  }

  #key(shard: string): string {
    return this.#link.key(FOLDER, shard);
  }
}

/** Name of a shard in the notes, the same for every feeder. */
export function notedShard(run: string, { pass, shard }: Pick<Shard, 'pass' | 'shard'>): string {
  return `${run}:${pass}-${shard}`;
}

/** Binds a sealed note to its shard and field. */
function placeOf(shard: string, field: string): SealedPlace {
  return { run: shard.slice(0, shard.lastIndexOf(':')), folder: FOLDER, name: `${shard} ${field}` };
}

/** Id of a note and of the death it becomes, so that a replayed note still counts once. */
function newId(): string {
  return randomBytes(ID_BYTES).toString('hex');
}

/** The note of a death: of an item, or with null of the shard. */
function deathOf(id: string, seq: number | null): readonly [field: string, text: string] {
  return [seq === null ? DEATH + id : `${DEATH}${id}:${seq}`, ''];
}

/** A worker's note of what it is judging. */
interface WorkerNote {
  readonly field: string;
  readonly worker: string;
  readonly id: string;
  /** The items of the piece that it judges; null: the note is about the shard. */
  readonly seqs: readonly number[] | null;
}

interface Death {
  readonly field: string;
  /** Null: the shard's. */
  readonly seq: number | null;
}

/** The notes of a shard. */
interface Notes {
  readonly workerNotes: readonly WorkerNote[];
  readonly deaths: readonly Death[];
}

const WORKER_NOTE_FIELD = /^(has|items):([\w-]{1,64})$/;
const DEATH_NOTE = /^death:[0-9a-f]{24}(?::(\d{1,15}))?$/;
const WORKER_NOTE_TEXT = /^([0-9a-f]{24})(?: (\d{1,15}(?:,\d{1,15}){0,255}))?$/;

/** Null when one of them is not a worker's note. */
function parseNotes(fields: readonly (readonly [field: string, text: string | null])[]): Notes | null {
  const workerNotes: WorkerNote[] = [];
  const deaths: Death[] = [];
  for (const [field, text] of fields) {
    if (text === null) return null;
    const death = DEATH_NOTE.exec(field);
    if (death !== null && text === '') {
      deaths.push({ field, seq: death[1] === undefined ? null : Number(death[1]) });
      continue;
    }
    const [, kind, worker] = WORKER_NOTE_FIELD.exec(field) ?? [];
    const [, id, seqs] = WORKER_NOTE_TEXT.exec(text) ?? [];
    if (worker === undefined || id === undefined || (kind === 'items') !== (seqs !== undefined)) return null;
    workerNotes.push({ field, worker, id, seqs: seqs?.split(',').map(Number) ?? null });
  }
  return { workerNotes, deaths };
}

function countOf(deaths: readonly Death[]): Deaths {
  let ofShard = 0;
  const ofItem = new Map<number, number>();
  for (const { seq } of deaths) {
    if (seq === null) ofShard++;
    else ofItem.set(seq, (ofItem.get(seq) ?? 0) + 1);
  }
  return { ofShard, ofItem };
}
