/** No value is left to nobody for longer, in milliseconds: whoever looks after it may then wake it. */
export const MAX_REST_MS = 10_000;

/** Thrown by a handler to put its value back into the queue without ending anything. */
export class Requeue extends Error {
  override readonly name = 'Requeue';
  /** How long nobody is to take it, in milliseconds; at most `MAX_REST_MS`. */
  readonly delayMs: number;

  constructor(delayMs: number) {
    super('given back to the queue');
    this.delayMs = delayMs;
  }
}
