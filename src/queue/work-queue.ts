/**
 * A bounded hand-over between two stages. Delivery is at least once as seen from the run: what was handed over but
 * not committed is handed over again by whoever resumes the run, so a queue needs no durability of its own.
 */
export interface WorkQueue<T> {
  /** Hands one value over; waits while as many values as the bound allows are waiting. Rejects on abort. */
  add(value: T, signal: AbortSignal): Promise<void>;
  /** Says that nothing more will be added. Safe to call twice. */
  close(): void;
  /**
   * Runs `handle` on each value, at most `concurrency` at a time, until the queue is closed and empty. After the
   * first rejection of `handle`, or an abort, nothing more is taken; what is running is waited for, then the
   * reason is thrown.
   */
  consume(
    handle: (value: T, signal: AbortSignal) => Promise<void>,
    options: { readonly concurrency: number; readonly signal: AbortSignal },
  ): Promise<void>;
}
