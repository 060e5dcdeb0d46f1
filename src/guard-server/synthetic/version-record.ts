/**
 * Records the fingerprints that each content was judged under, for tests to compare with a run's verdicts. Beyond
 * `capacity`, the contents that were first judged longest ago are dropped.
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

  /** Fingerprint ids in order of first use; empty for content that is not recorded. */
  of(contentSha256: string): readonly string[] {
    return this.#fingerprints.get(contentSha256) ?? [];
  }
}
