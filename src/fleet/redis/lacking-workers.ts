import { z } from 'zod';
import type { Lane } from '../../domain/item.ts';
import { withKey } from '../../queue/redis/keys/own-type.ts';
import type { RedisLink } from '../../queue/redis/link.ts';
import { retryWhileTransient } from '../../queue/redis/retry-while-transient.ts';
import { listPresent } from './presence.ts';

/** For so long a worker's word that it lacks a shard's files holds, in milliseconds: files may be mounted meanwhile. */
const REMEMBERED_MS = 600_000;

const WORKER = z.looseObject({ lanes: z.array(z.string()) });

/** Which workers lack media files of a shard, so that the last of those alive knows that nobody has them. */
export class LackingWorkers {
  readonly #link: RedisLink;
  readonly #worker: string;

  /** `worker`: the id under which this process announces itself. */
  constructor(link: RedisLink, worker: string) {
    this.#link = link;
    this.#worker = worker;
  }

  /** Notes that this worker lacks files of a shard; whether all workers of its lane that live do by now. */
  async note(shard: string, lane: Lane, signal: AbortSignal): Promise<boolean> {
    const { redis } = this.#link;
    const key = this.#link.key('lacking', shard);
    await withKey(this.#link, { key, type: 'set' }, () => redis.sadd(key, this.#worker), signal);
    await retryWhileTransient(() => redis.pexpire(key, REMEMBERED_MS), signal);
    const present = await listPresent(this.#link, 'worker', signal);
    const lacking = await this.#among(
      key,
      present.map(({ id }) => id),
      signal,
    );
    // A worker of another version may say other things of itself; it may have the files.
    return present.every(({ id, details }) => {
      const worker = WORKER.safeParse(details).data;
      return lacking.has(id) || worker?.lanes.includes(lane) === false;
    });
  }

  /** Those of the workers that the set holds: it is asked for these alone, however many others are in it. */
  async #among(key: string, workers: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>> {
    if (workers.length === 0) return new Set();
    const ask = (): Promise<number[]> => this.#link.redis.smismember(key, ...workers);
    const answers = await withKey(this.#link, { key, type: 'set' }, ask, signal);
    return new Set(workers.filter((_, index) => answers[index] === 1));
  }
}
