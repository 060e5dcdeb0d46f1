import { isEmbedded } from '../../config/values/guard-url.ts';
import type { ClientTls } from '../../config/keys/guard-tls.ts';
import { Failure } from '../../domain/failure.ts';
import { readGuards } from '../../guard-setup/read-guards.ts';
import type { Check } from './machine-checks.ts';

const ANSWER_WITHIN_MS = 10_000;

interface GuardCheckOptions {
  /** All configured guards, including this one. */
  readonly guards: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly tls: ClientTls;
  readonly signal: AbortSignal;
}

/** Whether a guard answers, and which model it runs. Rejects only on abort. */
export async function checkGuard(
  url: string,
  { guards: configured, env, tls, signal }: GuardCheckOptions,
): Promise<Check> {
  const what = `guard ${url}`;
  try {
    const options = { configured, env, tls, timeoutMs: ANSWER_WITHIN_MS, signal };
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
