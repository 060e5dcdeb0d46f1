/** Max checkpoints of a source: 1 MB. */
const MAX_CHECKPOINTS = 65_536;

/** A place in the text of a file at which reading can begin. */
export interface Checkpoint {
  /** Number of the line or row that begins there, from 1. */
  readonly number: number;
  /** Offset in the UTF-8 text of the file. */
  readonly offset: number;
}

/**
 * Where the lines or rows of a file begin, as far as it was read: of all of them, of every second one, every fourth one and
 * so on, so that memory is bounded.
 */
export class Checkpoints {
  readonly #numbers: number[];
  readonly #offsets: number[];
  /** Least distance between two numbers. */
  #step = 1;

  constructor(first: Checkpoint) {
    this.#numbers = [first.number];
    this.#offsets = [first.offset];
  }

  /** Adds a checkpoint behind all others; any other one is ignored. */
  add(number: number, offset: number): void {
    if (number < this.#numbers.at(-1)! + this.#step) return;
    this.#numbers.push(number);
    this.#offsets.push(offset);
    if (this.#numbers.length >= MAX_CHECKPOINTS) this.#thinOut();
  }

  /** The last checkpoint at or before a number; the first one if there is none. */
  before(number: number): Checkpoint {
    let low = 0;
    let high = this.#numbers.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#numbers[middle]! <= number) low = middle;
      else high = middle - 1;
    }
    return { number: this.#numbers[low]!, offset: this.#offsets[low]! };
  }

  #thinOut(): void {
    for (const list of [this.#numbers, this.#offsets]) {
      for (let index = 0; index < list.length; index += 2) list[index / 2] = list[index]!;
      list.length = Math.ceil(list.length / 2);
    }
    this.#step *= 2;
  }
}
