import type { RunConfig } from '../config/run-config.ts';
import { connectGuards } from '../guard/pool/connect-guards.ts';
import type { GuardPool } from '../guard/pool/pool.ts';
import { guardToken } from './guard-token.ts';
import { openGuardEndpoints, type GuardEndpoints } from './guard-endpoints.ts';

/** The guards of a run while a command uses them. */
export interface GuardSession {
  readonly pool: GuardPool;
  /** Aborts with a Failure when the embedded guard dies. */
  readonly died: AbortSignal;
  /** Ends connections, then the embedded guard. May be called again. */
  close(): Promise<void>;
}

/** Which guards are opened, and how. */
type Opening = Pick<RunConfig, 'guards' | 'expectFingerprint' | 'maxWaitMs'> & {
  readonly startWaitMs: number;
  /** Those that the user has named for this command; default: all. */
  readonly namedByUser?: readonly string[];
};

/** Failure('usage') when a guard may not be sent the token that is there for it. */
export function assertTokens(config: Pick<Opening, 'guards' | 'namedByUser'>, env: NodeJS.ProcessEnv): void {
  const token = guardToken(env, config.guards, config.namedByUser);
  for (const url of config.guards) token({ name: url, address: url });
}

/**
 * Starts the embedded guard where it is configured and connects to every endpoint.
 * `say` takes one line for people when that takes long.
 * Failure `service` when an endpoint is not ready in time, or not what was expected.
 */
export async function openGuardSession(
  config: Opening,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
  say: (message: string) => void,
): Promise<GuardSession> {
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
        startTimeoutMs: config.startWaitMs,
        say,
        token: opened.token,
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
