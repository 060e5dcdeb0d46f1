import type { ClientTls } from '../../config/keys/guard-tls.ts';
import { isEmbedded } from '../../config/values/guard-url.ts';
import type { RedisAddress } from '../../config/values/redis-url.ts';
import type { GuardPolicy } from '../../domain/guard/guard-family.ts';
import { Failure } from '../../domain/failure.ts';
import { readGuards } from '../../guard-setup/read-guards.ts';
import { checkServer } from '../../queue/redis/check-server.ts';
import type { Check } from './machine-checks.ts';

/** Timeout in milliseconds; the Redis of a fleet is already running. */
const REDIS_ANSWERS_WITHIN_MS = 5000;

/** Whether the Redis of a fleet answers and meets its requirements. Rejects only on abort. */
export async function checkRedis(address: RedisAddress, signal: AbortSignal): Promise<Check> {
  const what = `Redis at ${address.shown} (${address.place})`;
  try {
    await checkServer(address, signal, REDIS_ANSWERS_WITHIN_MS);
    return { what, ok: true, found: 'answers, and meets the requirements of a fleet', todo: null };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Failure)) throw error;
    const found = error.message.startsWith(`${what} `) ? error.message.slice(what.length + 1) : error.message;
    const todo = 'fix that, or name another with --redis or REDIS_URL; docs/fleet.md lists the requirements';
    return { what, ok: false, found, todo };
  }
}

const GUARD_ANSWERS_WITHIN_MS = 10_000;

interface GuardCheckOptions {
  /** All configured guards, including this one. */
  readonly guards: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly tls: ClientTls;
  readonly guardPolicy: GuardPolicy | null;
  readonly signal: AbortSignal;
}

/** Whether a guard answers, and which model it runs. Rejects only on abort. */
export async function checkGuard(
  url: string,
  { guards: configured, env, tls, guardPolicy, signal }: GuardCheckOptions,
): Promise<Check> {
  const what = `guard ${url}`;
  try {
    const options = { configured, env, tls, guardPolicy, timeoutMs: GUARD_ANSWERS_WITHIN_MS, signal };
    const [reading] = await readGuards([url], options);
    const found =
      reading!.fingerprint?.id ?? 'judges; no fingerprint: over REST it does not tell which model it runs';
    return { what, ok: true, found: `ready, ${found}`, todo: null };
  } catch (error) {
    signal.throwIfAborted();
    return {
      what,
      ok: false,
      found: error instanceof Failure ? error.message : 'does not answer',
      todo: isEmbedded(url)
        ? 'reinstall guardsweep: its embedded guard should always start'
        : 'start it, or correct --guard or GUARD_URL',
    };
  }
}
