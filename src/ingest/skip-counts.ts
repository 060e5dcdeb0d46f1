/** What was passed over while the corpora were expanded, by reason, so that nothing goes missing in silence. */
export class SkipCounts {
  readonly #counts = new Map<string, number>();

  add(reason: string, count = 1): void {
    if (count > 0) this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + count);
  }

  count(reason: string): number {
    return this.#counts.get(reason) ?? 0;
  }

  /** Reason to count, as far as there were any. */
  toRecord(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }
}
