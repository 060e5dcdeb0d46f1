import { retryMs } from '../../flow/backoff.ts';
import { CallError, type OutReason } from '../protocol/call-error.ts';
import type { CallOptions } from '../protocol/connection.ts';
import { notUsable, NotUsable } from '../protocol/not-usable.ts';

/** Version readings that may fail in a row before the endpoint is taken out. */
const MAX_FAILED = 3;

/** What follows from a failed reading: read again, take the endpoint out, or an error of our own. */
export type AfterFailure =
  | { readonly kind: 'again'; readonly delayMs: number }
  | { readonly kind: 'down'; readonly reason: OutReason; readonly fatal: boolean; readonly reached: boolean }
  | { readonly kind: 'crashed' };

/** Version readings of one endpoint that failed in a row. */
export class ReadingFailures {
  #inRow = 0;

  /** Whether the last reading failed. */
  get any(): boolean {
    return this.#inRow > 0;
  }

  succeeded(): void {
    this.#inRow = 0;
  }

  /** An overload passes, however often it is met; other trouble may pass, and is met a few times only. */
  failed(error: unknown, options: CallOptions): AfterFailure {
    this.#inRow++;
    const fault = error instanceof CallError ? error.fault : null;
    const what = notUsable(error, options);
    if (!(what instanceof NotUsable)) return { kind: 'crashed' };
    const mayPass = fault?.kind === 'attempt' || fault?.kind === 'execution';
    if (fault?.kind === 'overload' || (mayPass && this.#inRow < MAX_FAILED)) {
      return { kind: 'again', delayMs: retryMs(this.#inRow) };
    }
    const reached = fault?.kind === 'endpoint' && fault.reached;
    return { kind: 'down', reason: what.reason, fatal: fault?.kind === 'fatal', reached };
  }
}
