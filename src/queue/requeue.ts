/** Maximum delay of a requeued value, in milliseconds. The feeder may promote one that is delayed for longer. */
export const MAX_REQUEUE_DELAY_MS = 10_000;

/** Thrown by a handler to put its value back into the queue. The consumer goes on with other values. */
export class Requeue extends Error {
  override readonly name = 'Requeue';
  /** Delay before the value is handed out again, in milliseconds; at most `MAX_REQUEUE_DELAY_MS`. */
  readonly delayMs: number;

  constructor(delayMs: number) {
    super('put back into the queue');
    this.delayMs = delayMs;
  }
}
