import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { Failure } from '../../domain/failure.ts';
import type { EndpointStatus } from '../../guard/endpoint/endpoint-status.ts';
import type { RedisLink } from '../../queue/redis/link.ts';
import { retryWhileTransient } from '../../queue/redis/retry-while-transient.ts';
import { listPresent } from './presence.ts';

/** Max ids that are used: each is looked up for each item. A fleet has one or two models, and one more while it changes. */
const MAX_MODELS = 16;
/** How often a worker looks whether somebody asks for a reading, and an asker for answers, in milliseconds. */
const LOOK_EVERY_MS = 200;
/** How long an asker waits for the other workers once one has answered, before it asks again, in milliseconds. */
const OTHERS_MS = 5000;
/** How much the clock of Redis may be ahead of what this process measures, in microseconds. */
const MAX_DRIFT_US = 1_000_000;

/** Guards that a message names. */
const MAX_NAMED = 5;

/** Of a fingerprint, or of what a guard declares. */
const ID = z.string().regex(/^(?:sha256|declared):[0-9a-f]{64}$/);

const WORKER = z.looseObject({
  guards: z.array(z.looseObject({ name: z.string(), state: z.string() })),
  models: z.array(ID).max(MAX_MODELS),
  readAt: z.number().nullable(),
});

type Announced = z.infer<typeof WORKER>;

/** A worker's announcement about its guards. */
export function announcedGuards(guards: readonly EndpointStatus[]): object[] {
  return guards.map(({ name, state, fingerprint }) => ({ name, state: state.name, fingerprint }));
}

interface ReadingOptions {
  /** See `GuardPool.readModels`. */
  readonly read: (signal: AbortSignal) => Promise<readonly string[]>;
  /** Announces `announced` now. */
  readonly announce: () => Promise<void>;
}

/** Has the guards of a worker tell their versions whenever a feeder asks. */
export class WorkerModels {
  readonly #link: RedisLink;
  #announced: { readonly models: readonly string[]; readonly readAt: number | null } = {
    models: [],
    readAt: null,
  };

  constructor(link: RedisLink) {
    this.#link = link;
  }

  /** The ids of the models, and when their reading began, by the clock of Redis in microseconds. */
  get announced(): object {
    return this.#announced;
  }

  /** Reads until aborted; then rejects with the signal's reason. */
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
 * Ids of the models that the guards of live workers (with `guards`: of those that have one of them) have now: by readings that begin after this call, which it asks for
 * and waits for. A worker that does not answer in time, or without a guard that is ready, does not count while another
 * does. Rejects with the signal's reason when aborted.
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
      // A reading of the future was noted before the clock of Redis was set back.
      const answers = workers.filter(({ readAt }) => readAt !== null && readAt >= since && readAt <= until);
      if (answers.length > 0 && (answers.length === workers.length || waitedMs > OTHERS_MS)) {
        return [...new Set(answers.flatMap(({ models }) => models))].slice(0, MAX_MODELS);
      }
      await delay(LOOK_EVERY_MS / 2, undefined, { signal });
    } while (performance.now() - askedAt < 2 * OTHERS_MS);
  }
}

/**
 * Waits for a live worker that has one of the guards. Failure('service') when there is none within `timeoutMs`; rejects
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

/** Holds when a feeder last asked for the models of all workers. */
function askedKey(link: RedisLink): string {
  return link.key('models-asked');
}
