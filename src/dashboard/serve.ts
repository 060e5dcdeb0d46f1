import { once } from 'node:events';
import type { Failure } from '../domain/failure.ts';
import type { Say } from '../domain/say.ts';
import { type GatewayOptions, startGateway } from '../gateway/gateway.ts';
import type { OpenGuards } from '../guard/pool/guard-session.ts';
import { sayChanges } from '../guard/pool/pool.ts';
import type { Interrupts } from '../terminal/interrupt.ts';
import type { LineWriter } from '../terminal/line-writer.ts';
import { type DashboardOptions, openDashboard } from './dashboard.ts';

export interface ServeOptions extends Omit<GatewayOptions, 'pool' | 'onFailure' | 'beside' | 'needs'> {
  /** Connects to the guards before anything is served. */
  readonly openGuards: OpenGuards;
  /** Null to serve only the gateway. */
  readonly dashboard: Omit<DashboardOptions, 'say' | 'token' | 'pool'> | null;
  readonly stdout: Pick<LineWriter, 'line'>;
  readonly say: Say;
}

/**
 * Serves the gateway and the dashboard until asked to end, then finishes open requests. Prints their addresses. Rejects
 * with a Failure if the guards cannot be opened, the port cannot be bound, or the embedded guard dies, and with the
 * reason of `stop` if open requests were abandoned.
 */
export async function serve(
  { openGuards, stdout, say, ...options }: ServeOptions,
  { drain, stop }: Interrupts,
): Promise<void> {
  const { token } = options;
  const guards = await openGuards(drain, say);
  try {
    const { pool } = guards;
    sayChanges(pool, say);
    const dashboard = options.dashboard && (await openDashboard({ ...options.dashboard, token, say, pool }));
    const failed = new AbortController();
    const onFailure = (failure: Failure): void => failed.abort(failure);
    const gateway = await startGateway({
      ...options,
      ...{ pool, onFailure, beside: dashboard?.site ?? null, needs: dashboard?.needs ?? {} },
    }).catch(async (error: unknown) => {
      await dashboard?.close();
      throw error;
    });
    const ended = AbortSignal.any([failed.signal, guards.died]);
    try {
      stdout.line(`gateway listening on ${gateway.origin}`);
      if (dashboard !== null) stdout.line(`dashboard: ${linkTo(gateway.origin, dashboard.token, token)}`);
      const ending = AbortSignal.any([drain, ended]);
      if (!ending.aborted) await once(ending, 'abort');
    } finally {
      const atOnce = AbortSignal.any([stop, ended]);
      await Promise.all([dashboard?.close(), gateway.close(atOnce)]);
    }
    ended.throwIfAborted();
    stop.throwIfAborted();
  } finally {
    await guards.close();
  }
}

/**
 * Login URL. A token generated for this process is in the fragment, which browsers do not send; one that the user chose
 * is not printed.
 */
function linkTo(origin: string, token: string, chosen: string | null): string {
  return chosen === null ? `${origin}/login#token=${token}` : `${origin}/login`;
}
