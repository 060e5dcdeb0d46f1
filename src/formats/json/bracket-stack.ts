const CLOSE_BRACKET = 0x5d;

/** The closing brackets still owed, innermost last. One byte each, since nesting is the file's choice. */
export class BracketStack {
  #bytes = Buffer.allocUnsafe(64);
  #depth = 0;
  /** How many of them are square ones: one that is not owed at all is not looked for. */
  #square = 0;

  get depth(): number {
    return this.#depth;
  }

  /** The innermost one; undefined when none is owed. */
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
   * Closes down to the innermost bracket that `closer` closes. Says whether that was the very next one, one further
   * out, or none at all (and then nothing is closed).
   */
  close(closer: number): 'next' | 'outer' | 'none' {
    const owed = closer === CLOSE_BRACKET ? this.#square : this.#depth - this.#square;
    if (owed === 0) return 'none';
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
