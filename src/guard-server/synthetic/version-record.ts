/**
 * Which fingerprints were in force when a content was judged: what a test compares a run's verdicts with. Bounded:
 * the contents judged longest ago for the first time are forgotten.
 */
export class VersionRecord {
  readonly #fingerprints = new Map<string, string[]>();
  readonly #capacity: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  add(contentSha256: string, fingerprint: string): void {
    const known = this.#fingerprints.get(contentSha256);
    if (known !== undefined) {
      if (!known.includes(fingerprint)) known.push(fingerprint);
      return;
    }
    this.#fingerprints.set(contentSha256, [fingerprint]);
    if (this.#fingerprints.size > this.#capacity) {
      this.#fingerprints.delete(this.#fingerprints.keys().next().value!);
    }
  }

  /** Fingerprint ids in order of first use; empty for a content that was never judged, or long ago. */
  of(contentSha256: string): readonly string[] {
    return this.#fingerprints.get(contentSha256) ?? [];
  }
}
