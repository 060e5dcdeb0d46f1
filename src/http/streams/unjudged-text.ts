/** The text of all streams that has not been judged, in UTF-16 code units. */
export class UnjudgedText {
  readonly #max: number;
  #held = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get held(): number {
    return this.#held;
  }

  /** Returns false and adds nothing when there is no room. `units` may be negative. */
  add(units: number): boolean {
    if (units > 0 && this.#held + units > this.#max) return false;
    this.#held += units;
    return true;
  }
}
