const CLOSE_BRACKET = 0x5d;

/** The expected closing brackets, innermost last. One byte each, because the file controls the depth. */
export class BracketStack {
  #bytes = Buffer.allocUnsafe(64);
  #depth = 0;
  /** Number of square brackets among them, so that `close` need not search for a bracket that is not expected. */
  #square = 0;

  get depth(): number {
    return this.#depth;
  }

  /** The innermost one; undefined if none is expected. */
  get top(): number | undefined {
    return this.#depth === 0 ? undefined : this.#bytes[this.#depth - 1];
  }

  clear(): void {
    this.#depth = this.#square = 0;
  }

  push(closer: number): void {
    if (this.#depth === this.#bytes.length) {
      this.#bytes = Buffer.concat([this.#bytes, Buffer.allocUnsafe(this.#bytes.length)]);
    }
    this.#bytes[this.#depth++] = closer;
    if (closer === CLOSE_BRACKET) this.#square++;
  }

  /**
   * Pops up to the innermost bracket that matches `closer`. Returns whether that was the top of the stack, one further
   * out, or none (then nothing is popped).
   */
  close(closer: number): 'next' | 'outer' | 'none' {
    const expected = closer === CLOSE_BRACKET ? this.#square : this.#depth - this.#square;
    if (expected === 0) return 'none';
    const isNext = this.top === closer;
    while (this.#pop() !== closer);
    return isNext ? 'next' : 'outer';
  }

  #pop(): number {
    const closer = this.#bytes[--this.#depth]!;
    if (closer === CLOSE_BRACKET) this.#square--;
    return closer;
  }
}
