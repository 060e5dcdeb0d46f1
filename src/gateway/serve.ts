import { once } from 'node:events';
import type { Failure } from '../domain/failure.ts';
import type { OpenGuards } from '../guard/pool/guard-session.ts';
import type { Interrupts } from '../terminal/interrupt.ts';
import type { LineWriter } from '../terminal/line-writer.ts';
import { type GatewayOptions, startGateway } from './gateway.ts';

export interface ServeOptions extends Omit<GatewayOptions, 'pool' | 'onFailure'> {
  /** Connects to the guards before anything is served. */
  readonly openGuards: OpenGuards;
  readonly stdout: Pick<LineWriter, 'line'>;
  readonly say: (line: string) => void;
}

/**
 * Serves the gateway until it is asked to end, then finishes open requests. Prints its address. Rejects with a Failure
 * when no guard becomes usable at the start, when the port cannot be bound, and when the embedded guard dies.
 */
export async function serveGateway(
  { openGuards, stdout, say, ...options }: ServeOptions,
  { drain, stop }: Interrupts,
): Promise<void> {
  const guards = await openGuards(drain, say);
  try {
    const failed = new AbortController();
    const onFailure = (failure: Failure): void => failed.abort(failure);
    const gateway = await startGateway({ ...options, pool: guards.pool, onFailure });
    const ended = AbortSignal.any([failed.signal, guards.died]);
    try {
      stdout.line(`gateway listening on ${gateway.origin}`);
      const ending = AbortSignal.any([drain, ended]);
      if (!ending.aborted) await once(ending, 'abort');
    } finally {
      await gateway.close(AbortSignal.any([stop, ended]));
    }
    ended.throwIfAborted();
  } finally {
    await guards.close();
  }
}
