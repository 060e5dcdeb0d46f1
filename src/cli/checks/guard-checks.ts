import { EMBEDDED_GUARD } from '../../config/values/guard-url.ts';
import { Failure } from '../../domain/failure.ts';
import { readEndpoint } from '../../guard/pool/read-endpoint.ts';
import { openGuardEndpoints } from '../../guard-setup/guard-endpoints.ts';
import { guardToken } from '../../guard-setup/guard-token.ts';
import type { Check } from './machine-checks.ts';

const ANSWER_WITHIN_MS = 10_000;

export interface GuardCheckOptions {
  /** Every guard that is named, this one among them. */
  readonly guards: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/** Whether a guard answers and says which model it is; the embedded one is started for it. Rejects only on abort. */
export async function checkGuard(
  url: string,
  { guards: all, env, signal }: GuardCheckOptions,
): Promise<Check> {
  const what = `guard ${url}`;
  try {
    const guards = await openGuardEndpoints([url], guardToken(env, all));
    try {
      const { fingerprint } = await readEndpoint(guards.endpoints[0]!, {
        timeoutMs: ANSWER_WITHIN_MS,
        signal,
        token: guards.token,
      });
      const found =
        fingerprint?.id ?? 'judges; no fingerprint: over REST it does not tell which model it runs';
      return { what, ok: true, found: `ready, ${found}`, todo: null };
    } finally {
      await guards.close();
    }
  } catch (error) {
    signal.throwIfAborted();
    return {
      what,
      ok: false,
      found: error instanceof Failure ? error.message : 'does not answer',
      todo:
        url === EMBEDDED_GUARD
          ? 'reinstall guardsweep: its embedded guard should always start'
          : 'start it, or correct --guard or GUARD_URL',
    };
  }
}
