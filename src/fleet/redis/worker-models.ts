import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { Failure } from '../../domain/failure.ts';
import type { EndpointStatus } from '../../guard/endpoint/endpoint-status.ts';
import type { RedisLink } from '../../queue/redis/link.ts';
import { retryWhileTransient } from '../../queue/redis/retry-while-transient.ts';
import { listPresent } from './presence.ts';

/**
 * Maximum ids in use, because each is looked up for each item. A fleet has one or two models, plus one while it
 * changes.
 */
const MAX_MODELS = 16;
/** How often a worker checks for reading requests, and a requester for answers, in milliseconds. */
const LOOK_EVERY_MS = 200;
/** How long a requester waits for the other workers once one has answered, before it asks again, in milliseconds. */
const OTHERS_MS = 5000;
/** Maximum lead of the clock of Redis over the time this process measures, in microseconds. */
const MAX_DRIFT_US = 1_000_000;

/** Maximum guards named in a message. */
const MAX_NAMED = 5;

/** Id of a fingerprint or of a declaration. */
const ID = z.string().regex(/^(?:sha256|declared):[0-9a-f]{64}$/);

const WORKER = z.looseObject({
  guards: z.array(z.looseObject({ name: z.string(), state: z.string() })),
  models: z.array(ID).max(MAX_MODELS),
  readAt: z.number().nullable(),
});

type Announced = z.infer<typeof WORKER>;

/** Formats a worker's announcement about its guards. */
export function announcedGuards(guards: readonly EndpointStatus[]): object[] {
  return guards.map(({ name, state, fingerprint }) => ({ name, state: state.name, fingerprint }));
}

interface ReadingOptions {
  /** See `GuardPool.readModels`. */
  readonly read: (signal: AbortSignal) => Promise<readonly string[]>;
  /** Sends the current `announced` right away. */
  readonly announce: () => Promise<void>;
}

/** Reads the models of a worker's guards whenever a feeder asks for them. */
export class WorkerModels {
  readonly #link: RedisLink;
  #announced: { readonly models: readonly string[]; readonly readAt: number | null } = {
    models: [],
    readAt: null,
  };

  constructor(link: RedisLink) {
    this.#link = link;
  }

  /** Ids of the models, and when their reading began, by the clock of Redis in microseconds. */
  get announced(): object {
    return this.#announced;
  }

  /** Reads models until aborted; then rejects with the signal's reason. */
  async run({ read, announce }: ReadingOptions, signal: AbortSignal): Promise<never> {
    let answered: string | null = null;
    for (;;) {
      signal.throwIfAborted();
      const asked: string | null = this.#link.away ? answered : await askedFor(this.#link, signal);
      if (asked !== null && asked !== answered) {
        const began = await redisTime(this.#link, signal);
        this.#announced = { models: (await read(signal)).slice(0, MAX_MODELS), readAt: began };
        await announce();
        answered = asked;
      }
      await delay(LOOK_EVERY_MS, undefined, { signal });
    }
  }
}

/**
 * Returns the ids of the models that the guards of live workers have now; with `guards`, only workers that have one of
 * them. Requests new readings, which begin after this call, and waits for them. Workers that do not answer in time, or
 * have no ready guard, do not count as long as another one does. Rejects with the signal's reason when aborted.
 */
export async function readWorkerModels(
  link: RedisLink,
  guards: readonly string[] | null,
  signal: AbortSignal,
): Promise<readonly string[]> {
  for (;;) {
    const since = await redisTime(link, signal);
    const askedAt = performance.now();
    await retryWhileTransient(() => link.redis.set(askedKey(link), String(since), 'PX', 60_000), signal);
    do {
      const waitedMs = performance.now() - askedAt;
      const until = since + waitedMs * 1000 + MAX_DRIFT_US;
      const workers = (await announcedModels(link, signal)).filter((worker) => hasGuard(worker, guards));
      // A reading in the future was noted before the clock of Redis was set back.
      const answers = workers.filter(({ readAt }) => readAt !== null && readAt >= since && readAt <= until);
      if (answers.length > 0 && (answers.length === workers.length || waitedMs > OTHERS_MS)) {
        return [...new Set(answers.flatMap(({ models }) => models))].slice(0, MAX_MODELS);
      }
      await delay(LOOK_EVERY_MS / 2, undefined, { signal });
    } while (performance.now() - askedAt < 2 * OTHERS_MS);
  }
}

/**
 * Waits for a live worker that has one of the guards. Failure('service') if there is none within `timeoutMs`; rejects
 * with the signal's reason when aborted.
 */
export async function waitForWorkerWith(
  guards: readonly string[],
  link: RedisLink,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const present = await listPresent(link, 'worker', signal);
    const workers = present.flatMap(({ details }) => WORKER.safeParse(details).data ?? []);
    if (workers.some((worker) => hasGuard(worker, guards))) return;
    if (performance.now() >= deadline) throw new Failure('service', noWorkerWith(guards, workers));
    await delay(LOOK_EVERY_MS, undefined, { signal });
  }
}

function noWorkerWith(guards: readonly string[], workers: readonly Announced[]): string {
  const others = [...new Set(workers.flatMap((worker) => worker.guards.map(({ name }) => name)))].sort();
  const there =
    others.length === 0
      ? 'there is no worker'
      : `the guards of workers are ${others.slice(0, MAX_NAMED).join(', ')}`;
  return `no worker has the guard ${guards.slice(0, MAX_NAMED).join(' or ')}: ${there}`;
}

function hasGuard(worker: Announced, guards: readonly string[] | null): boolean {
  return guards === null || worker.guards.some(({ name }) => guards.includes(name));
}

/** Announcements of the live workers with a guard in use. */
async function announcedModels(link: RedisLink, signal: AbortSignal): Promise<Announced[]> {
  const present = await listPresent(link, 'worker', signal);
  const workers = present.flatMap(({ details }) => WORKER.safeParse(details).data ?? []);
  return workers.filter(({ guards }) => guards.some(({ state }) => state === 'ready'));
}

function askedFor(link: RedisLink, signal: AbortSignal): Promise<string | null> {
  return retryWhileTransient(() => link.redis.get(askedKey(link)), signal);
}

/** Microseconds since 1970. */
async function redisTime(link: RedisLink, signal: AbortSignal): Promise<number> {
  const [seconds, microseconds] = await retryWhileTransient(() => link.redis.time(), signal);
  return Number(seconds) * 1_000_000 + Number(microseconds);
}

/** Key for when a feeder last asked for the models of all workers. */
function askedKey(link: RedisLink): string {
  return link.key('models-asked');
}
