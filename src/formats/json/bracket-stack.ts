/** The closing brackets still owed, innermost last. One byte each, since nesting is the file's choice. */
export class BracketStack {
  #bytes = Buffer.allocUnsafe(64);
  #depth = 0;

  get depth(): number {
    return this.#depth;
  }

  clear(): void {
    this.#depth = 0;
  }

  push(closer: number): void {
    if (this.#depth === this.#bytes.length) {
      this.#bytes = Buffer.concat([this.#bytes, Buffer.allocUnsafe(this.#bytes.length)]);
    }
    this.#bytes[this.#depth++] = closer;
  }

  /**
   * Closes down to the innermost bracket that `closer` closes. Says whether that was the very next one, one further
   * out, or none at all (and then nothing is closed).
   */
  close(closer: number): 'next' | 'outer' | 'none' {
    const at = this.#bytes.lastIndexOf(closer, this.#depth - 1);
    if (this.#depth === 0 || at < 0) return 'none';
    const isNext = at === this.#depth - 1;
    this.#depth = at;
    return isNext ? 'next' : 'outer';
  }
}
