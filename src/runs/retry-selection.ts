/** The items a retry pass judges again, by seq. */
export class RetrySelection {
  readonly #seqs: Float64Array;

  /** `seqs` in any order, without repeats. */
  constructor(seqs: readonly number[]) {
    this.#seqs = Float64Array.from(seqs).sort();
  }

  get size(): number {
    return this.#seqs.length;
  }

  has(seq: number): boolean {
    return this.#seqs[this.#firstFrom(seq)] === seq;
  }

  /** The selected seqs in `from` … `to - 1`, ascending. */
  within(from: number, to: number): readonly number[] {
    return [...this.#seqs.subarray(this.#firstFrom(from), this.#firstFrom(to))];
  }

  /** Index of the first selected seq that is not below `seq`. */
  #firstFrom(seq: number): number {
    let low = 0;
    let high = this.#seqs.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#seqs[middle]! < seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
