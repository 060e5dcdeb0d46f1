import type { OutcomeLine } from '../../../domain/outcome.ts';

/** Keeps the first lines of an order; of equal ones, those that were added first. */
export class TopLines {
  readonly #lines: OutcomeLine[] = [];
  readonly #max: number;
  /** Negative if the first line comes before the second one. */
  readonly #compare: (a: OutcomeLine, b: OutcomeLine) => number;

  constructor(max: number, compare: (a: OutcomeLine, b: OutcomeLine) => number) {
    this.#max = max;
    this.#compare = compare;
  }

  add(line: OutcomeLine): void {
    const lines = this.#lines;
    if (lines.length === this.#max && this.#compare(line, lines.at(-1)!) >= 0) return;
    let at = lines.length;
    while (at > 0 && this.#compare(line, lines[at - 1]!) < 0) at--;
    lines.splice(at, 0, line);
    if (lines.length > this.#max) lines.pop();
  }

  lines(): readonly OutcomeLine[] {
    return this.#lines;
  }
}
