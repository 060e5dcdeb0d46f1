import { retryMs } from '../../flow/backoff.ts';
import { CallError, type OutReason } from '../protocol/call-error.ts';
import type { CallOptions } from '../protocol/connection.ts';
import { notUsable, NotUsable } from '../protocol/not-usable.ts';

/** After this many failed version readings in a row the endpoint is taken out of use. */
const MAX_FAILED = 3;

/** What follows from a failed reading: read again, take the endpoint out of use, or report a bug. */
type AfterFailure =
  | { readonly kind: 'again'; readonly delayMs: number }
  | { readonly kind: 'down'; readonly reason: OutReason; readonly fatal: boolean; readonly reached: boolean }
  | { readonly kind: 'crashed' };

/** Counts the failed version readings of one endpoint, and decides what follows. */
export class ReadingFailures {
  #inRow = 0;

  /** Whether the last reading failed. */
  get any(): boolean {
    return this.#inRow > 0;
  }

  succeeded(): void {
    this.#inRow = 0;
  }

  /** Overloads are retried without limit, other retryable errors up to MAX_FAILED in a row. */
  failed(error: unknown, options: CallOptions): AfterFailure {
    this.#inRow++;
    const fault = error instanceof CallError ? error.fault : null;
    const what = notUsable(error, options);
    if (!(what instanceof NotUsable)) return { kind: 'crashed' };
    const retryable = fault?.kind === 'attempt' || fault?.kind === 'execution';
    if (fault?.kind === 'overload' || (retryable && this.#inRow < MAX_FAILED)) {
      return { kind: 'again', delayMs: retryMs(this.#inRow) };
    }
    const reached = fault?.kind === 'endpoint' && fault.reached;
    return { kind: 'down', reason: what.reason, fatal: fault?.kind === 'barred' && fault.fatal, reached };
  }
}
