/** No value is left to nobody for longer, in milliseconds: whoever looks after it may then wake it. */
export const LONGEST_REST_MS = 10_000;

/** Thrown by a handler to put its value back into the queue without ending anything. */
export class GivenBack extends Error {
  override readonly name = 'GivenBack';
  /** How long nobody is to take it, in milliseconds; at most `LONGEST_REST_MS`. */
  readonly delayMs: number;

  constructor(delayMs: number) {
    super('given back to the queue');
    this.delayMs = delayMs;
  }
}
