/** Counts the unjudged text of all streams, in UTF-16 code units. */
export class UnjudgedText {
  readonly #max: number;
  #held = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get held(): number {
    return this.#held;
  }

  /** Adds units, which may be negative. Returns false and adds nothing when there is no room. */
  add(units: number): boolean {
    if (units > 0 && this.#held + units > this.#max) return false;
    this.#held += units;
    return true;
  }
}
