import type { RedisAddress } from '../../config/values/redis-url.ts';
import { Failure } from '../../domain/failure.ts';
import { checkServer } from '../../queue/redis/check-server.ts';
import type { Check } from './machine-checks.ts';

/** Timeout in milliseconds; the Redis of a fleet is already running. */
const ANSWER_WITHIN_MS = 5000;

/** Whether the Redis of a fleet answers and meets its requirements. Rejects only on abort. */
export async function checkRedis(address: RedisAddress, signal: AbortSignal): Promise<Check> {
  const what = `Redis at ${address.shown} (${address.place})`;
  try {
    await checkServer(address, signal, ANSWER_WITHIN_MS);
    return { what, ok: true, found: 'answers, and meets the requirements of a fleet', todo: null };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Failure)) throw error;
    const found = error.message.startsWith(`${what} `) ? error.message.slice(what.length + 1) : error.message;
    const todo = 'fix that, or name another with --redis or REDIS_URL; docs/fleet.md lists the requirements';
    return { what, ok: false, found, todo };
  }
}
