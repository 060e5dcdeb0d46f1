/** Counts the overloads of one endpoint since the guard last judged something. */
export class Overloads {
  #inRow = 0;
  #lastAt = 0;

  get any(): boolean {
    return this.#inRow > 0;
  }

  passed(): void {
    this.#inRow = 0;
  }

  /**
   * A request sent at `sentAt` (by `performance.now()`) was rejected as overload. Requests in flight together count as one
   * overload: returns null for all but the first of them, else the number of overloads in a row.
   */
  count(sentAt: number): number | null {
    if (sentAt < this.#lastAt) return null;
    this.#lastAt = performance.now();
    return ++this.#inRow;
  }
}
