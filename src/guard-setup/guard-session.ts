import type { CanaryChoice, RunConfig } from '../config/run-config.ts';
import type { ClientTls } from '../config/keys/guard-tls.ts';
import type { GuardPolicy } from '../domain/guard/guard-family.ts';
import { Failure } from '../domain/failure.ts';
import type { Say } from '../domain/say.ts';
import { connectGuards, type PoolOptions } from '../guard/pool/connect-guards.ts';
import type { GuardSession, OpenGuards } from '../guard/pool/guard-session.ts';
import type { GuardPool } from '../guard/pool/pool.ts';
import { Canaries } from './canaries/canaries.ts';
import { readCanaries } from './canaries/canary-set.ts';
import { guardToken } from './guard-token.ts';
import { openGuardEndpoints, type GuardEndpoints } from './guard-endpoints.ts';

/** The guards to open, and how to connect to them. */
type Opening = Pick<RunConfig, 'guards' | 'expectFingerprint'> & {
  /** The written policy for a model of the family `policy`. */
  readonly guardPolicy?: GuardPolicy | null;
  /** Undefined to skip the canaries. */
  readonly canaries?: CanaryChoice;
  readonly maxWaitMs: PoolOptions['maxWaitMs'];
  /** Default true; see {@link PoolOptions}. */
  readonly stampVerdicts?: boolean;
  readonly startWaitMs: number;
  /** Default true; see {@link PoolOptions}. */
  readonly waitsForGuards?: boolean;
  /** Used for guards reached over TLS. */
  readonly tls: ClientTls;
  /** The guards that the user named, as opposed to a run directory; default: all. */
  readonly namedByUser?: readonly string[];
};

/**
 * Checks the tokens in an environment and returns a function that connects to the guards. Throws Failure('usage') if
 * the token for a guard must not be sent to it.
 */
export function guardOpener(config: Opening, env: NodeJS.ProcessEnv): OpenGuards {
  const token = guardToken(env, config.guards, config.namedByUser);
  for (const url of config.guards) token({ name: url, address: url });
  return (signal, say) => openGuardSession(config, env, signal, say);
}

/**
 * The guards that judge a run in this process: those of its record or, if a fleet started it, those that the user
 * names. Failure('usage') when there are none.
 */
export function guardsOfRun(
  recorded: readonly string[],
  namedByUser: readonly string[],
): Pick<Opening, 'guards' | 'namedByUser'> {
  if (recorded.length > 0) return { guards: recorded, namedByUser };
  if (namedByUser.length > 0) return { guards: namedByUser, namedByUser };
  throw new Failure(
    'usage',
    'a fleet judges this run: name its Redis with --redis or REDIS_URL, or with GUARD_URL a guard through which this process judges it',
  );
}

/**
 * Starts the embedded guard if it is configured and connects to every endpoint. `say` gets a notice when that is slow.
 * Every model must pass the canaries before it judges; without `canaries` there are none.
 * Failure('service') when no guard becomes usable within `startWaitMs`, or one is not the expected model or fails the
 * canaries.
 */
export async function openGuardSession(
  config: Opening,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
  say: Say,
): Promise<GuardSession> {
  const canaries = await readCanaries(config.canaries ?? { from: 'off' }, signal);
  const opened = await openGuardEndpoints(config.guards, guardToken(env, config.guards, config.namedByUser));
  const died = new AbortController();
  void opened.failed.then((failure) => died.abort(failure));
  let pool: GuardPool;
  try {
    pool = await connectGuards(
      opened.endpoints,
      {
        expectFingerprint: config.expectFingerprint,
        maxWaitMs: config.maxWaitMs,
        stampVerdicts: config.stampVerdicts ?? true,
        startTimeoutMs: config.startWaitMs,
        waitsForGuards: config.waitsForGuards ?? true,
        say,
        token: opened.token,
        tls: config.tls,
        guardPolicy: config.guardPolicy ?? null,
        modelCheck: canaries && new Canaries(canaries),
      },
      AbortSignal.any([signal, died.signal]),
    );
  } catch (error) {
    await opened.close();
    throw error;
  }
  return { pool, died: died.signal, close: () => closeBoth(pool, opened) };
}

async function closeBoth(pool: GuardPool, opened: GuardEndpoints): Promise<void> {
  try {
    await pool.close();
  } finally {
    await opened.close();
  }
}
