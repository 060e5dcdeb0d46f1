/** Overloads of one endpoint in a row: since the guard last judged something, if there are any. */
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
   * A request was turned away that was sent at `sentAt` (by `performance.now()`). Those turned away together are one
   * overload: null for all but the first of them, for which it is how many there have been in a row.
   */
  count(sentAt: number): number | null {
    if (sentAt < this.#lastAt) return null;
    this.#lastAt = performance.now();
    return ++this.#inRow;
  }
}
