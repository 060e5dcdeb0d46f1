/**
 * A bounded hand-over between two stages. Delivery is at least once as seen from the run: what was handed over but
 * not committed is handed over again by whoever resumes the run, so a queue needs no durability of its own.
 */
export interface WorkQueue<T> {
  /** Hands one value over; waits while as many values as the bound allows are waiting. Rejects on abort. */
  add(value: T, signal: AbortSignal): Promise<void>;
  /**
   * Runs `handle` on each value, at most `concurrency` at a time. After the first rejection of `handle`, or an
   * abort, nothing more is taken; what is running is waited for, then the reason is thrown. A handler that throws
   * `Requeue` ends nothing: its value is handed over again, later.
   */
  consume(
    handle: (value: T, signal: AbortSignal) => Promise<void>,
    options: { readonly concurrency: number; readonly signal: AbortSignal },
  ): Promise<void>;
}

/** A queue within one process, whose producer can say that it is done. */
export interface ClosableQueue<T> extends WorkQueue<T> {
  /** Says that nothing more will be added: `consume` resolves when the queue is empty. Safe to call twice. */
  close(): void;
}
