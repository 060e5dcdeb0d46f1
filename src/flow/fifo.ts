/** Minimum free slots at the front that make compacting worth its cost. */
const MIN_FREE = 1024;

/** A first-in, first-out queue; each operation but `keep` takes amortized constant time per value. */
export class Fifo<T> {
  #values: (T | undefined)[] = [];
  #head = 0;

  get size(): number {
    return this.#values.length - this.#head;
  }

  get first(): T | undefined {
    return this.#values[this.#head];
  }

  add(value: T): void {
    this.#values.push(value);
  }

  /** Removes and returns the first `count` values, or all if there are fewer. */
  take(count: number): T[] {
    const taken = this.#values.slice(this.#head, this.#head + count) as T[];
    this.#values.fill(undefined, this.#head, this.#head + taken.length);
    this.#head += taken.length;
    if (this.#head === this.#values.length) this.#reset([]);
    else if (this.#head >= MIN_FREE && this.#head * 2 >= this.#values.length) {
      this.#reset(this.#values.slice(this.#head));
    }
    return taken;
  }

  /** Keeps the values that pass the test, in order. */
  keep(test: (value: T) => boolean): void {
    this.#reset(this.#values.slice(this.#head).filter((value) => test(value as T)));
  }

  #reset(values: (T | undefined)[]): void {
    this.#values = values;
    this.#head = 0;
  }
}
