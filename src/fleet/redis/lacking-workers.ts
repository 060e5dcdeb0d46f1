import { z } from 'zod';
import type { Lane } from '../../domain/item.ts';
import type { RedisLink } from '../../queue/redis/link.ts';
import { retryWhileTransient } from '../../queue/redis/retry-while-transient.ts';
import { listPresent } from './presence.ts';

/** Expiry of the note that a worker lacks a shard's files, in milliseconds: the files may be mounted later. */
const NOTE_TTL_MS = 600_000;

const WORKER = z.looseObject({ lanes: z.array(z.string()) });

/** Records which workers lack media files of a shard, so that the last live one knows that no worker has them. */
export class LackingWorkers {
  readonly #link: RedisLink;
  readonly #worker: string;

  /** `worker`: the id under which this process announces itself. */
  constructor(link: RedisLink, worker: string) {
    this.#link = link;
    this.#worker = worker;
  }

  /** Notes that this worker lacks files of a shard; returns whether all live workers of its lane now do. */
  async note(shard: string, lane: Lane, signal: AbortSignal): Promise<boolean> {
    const { redis } = this.#link;
    const key = this.#link.key('lacking', shard);
    await retryWhileTransient(() => redis.sadd(key, this.#worker), signal);
    await retryWhileTransient(() => redis.pexpire(key, NOTE_TTL_MS), signal);
    const present = await listPresent(this.#link, 'worker', signal);
    const lacking = await this.#among(
      key,
      present.map(({ id }) => id),
      signal,
    );
    // The details of a worker of another version may be unreadable; it may have the files.
    return present.every(({ id, details }) => {
      const worker = WORKER.safeParse(details).data;
      return lacking.has(id) || worker?.lanes.includes(lane) === false;
    });
  }

  /** The workers that are in the set, asked for by id: the set may hold any number of others. */
  async #among(key: string, workers: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>> {
    if (workers.length === 0) return new Set();
    const ask = (): Promise<number[]> => this.#link.redis.smismember(key, ...workers);
    const answers = await retryWhileTransient(ask, signal);
    return new Set(workers.filter((_, index) => answers[index] === 1));
  }
}
