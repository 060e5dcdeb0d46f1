/** Numbers of 0 to 1, below 1, that depend only on a seed: mulberry32. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The values in random order. */
export function shuffled<T>(values: readonly T[], random: () => number): T[] {
  const mixed = [...values];
  for (let last = mixed.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [mixed[last], mixed[other]] = [mixed[other]!, mixed[last]!];
  }
  return mixed;
}

/** A random sample of a stream of values: each value is in it with the same probability. */
export class Reservoir<T> {
  readonly values: T[] = [];
  readonly #size: number;
  readonly #random: () => number;
  #seen = 0;

  constructor(size: number, random: () => number) {
    this.#size = size;
    this.#random = random;
  }

  add(value: T): void {
    this.#seen++;
    if (this.values.length < this.#size) {
      this.values.push(value);
      return;
    }
    const at = Math.floor(this.#random() * this.#seen);
    if (at < this.#size) this.values[at] = value;
  }
}
