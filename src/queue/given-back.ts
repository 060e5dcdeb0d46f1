/** Thrown by a handler to put its value back into the queue without ending anything. */
export class GivenBack extends Error {
  override readonly name = 'GivenBack';
  /** How long nobody is to take it, in milliseconds. */
  readonly delayMs: number;

  constructor(delayMs: number) {
    super('given back to the queue');
    this.delayMs = delayMs;
  }
}
