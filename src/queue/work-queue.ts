/**
 * A bounded queue between two stages. From the run's point of view, delivery is at least once: when a run is resumed,
 * values that were queued and not committed are queued again. So a queue need not be durable.
 */
export interface WorkQueue<T> {
  /** Adds a value; waits while the queue is full. Rejects on abort. */
  add(value: T, signal: AbortSignal): Promise<void>;
  /**
   * Runs `handle` on each value, at most `concurrency` at a time. After an abort or the first rejection of `handle`, no
   * more values are taken; running handlers are awaited, then it rejects with the reason. A handler that throws
   * `Requeue` does not end the consumer: its value is handled again later.
   */
  consume(
    handle: (value: T, signal: AbortSignal) => Promise<void>,
    options: { readonly concurrency: number; readonly signal: AbortSignal },
  ): Promise<void>;
}

/** A queue within one process, which its producer can close. */
export interface ClosableQueue<T> extends WorkQueue<T> {
  /** Nothing more will be added: `consume` resolves once the queue is empty. Idempotent. */
  close(): void;
}

/** Maximum delay of a requeued value, in milliseconds. */
export const MAX_REQUEUE_DELAY_MS = 10_000;

/** Thrown by a handler to put its value back into the queue. The consumer continues with other values. */
export class Requeue extends Error {
  override readonly name = 'Requeue';
  /** Delay before the value is handed out again, in milliseconds; at most `MAX_REQUEUE_DELAY_MS`. */
  readonly delayMs: number;

  constructor(delayMs: number) {
    super('put back into the queue');
    this.delayMs = delayMs;
  }
}
