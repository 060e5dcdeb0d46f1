/** Maximum delay of a requeued value, in milliseconds. One that rests for longer may be promoted by the feeder. */
export const MAX_REST_MS = 10_000;

/** Thrown by a handler to put its value back into the queue. The consumer goes on with other values. */
export class Requeue extends Error {
  override readonly name = 'Requeue';
  /** Delay before the value is handed out again, in milliseconds; at most `MAX_REST_MS`. */
  readonly delayMs: number;

  constructor(delayMs: number) {
    super('put back into the queue');
    this.delayMs = delayMs;
  }
}
