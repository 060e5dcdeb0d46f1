import type { ResolvedRun } from '../config/resolve.ts';
import { readGuardTls } from '../config/keys/guard-tls.ts';
import type { RunOptions } from '../runs/prepare-run.ts';
import type { RunResult } from '../runs/run-end.ts';
import { startRun } from '../runs/start-run.ts';
import { guardOpener } from './guard-session.ts';

/**
 * Creates a run from its resolved configuration and completes it in this process. The environment holds the tokens of
 * its guards. Rejects as startRun does.
 */
export async function startHere(
  { config, guardTls, startWaitMs, afterFinish }: Omit<ResolvedRun, 'schedule'>,
  env: NodeJS.ProcessEnv,
  options: RunOptions,
): Promise<RunResult> {
  const tls = await readGuardTls(guardTls, config.guards);
  const guards = async () => guardOpener({ ...config, tls, startWaitMs }, env);
  return startRun(config, { ...options, guards, signingKey: afterFinish.signingKey });
}
