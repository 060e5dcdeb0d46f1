/** Below so many places that are free at the front, moving what is left is not worth it. */
const MIN_FREE = 1024;

/** First in, first out, in constant time. */
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

  /** Takes the first `count`, or as many as there are. */
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

  /** Keeps what passes the test, in its order. */
  keep(test: (value: T) => boolean): void {
    this.#reset(this.#values.slice(this.#head).filter((value) => test(value as T)));
  }

  #reset(values: (T | undefined)[]): void {
    this.#values = values;
    this.#head = 0;
  }
}
