import type { Judgement } from './outcome.ts';
import { hasFloor } from './policy.ts';
import { isCategoryKey, OTHER_CATEGORIES } from './taxonomy.ts';

/** Max categories outside the taxonomy that are kept by name: thousands of parts may each flag different ones. */
const MAX_UNKNOWN_CATEGORIES = 20;

type ScoredPart = Pick<Judgement, 'score' | 'flagged' | 'subcategoryFlags'>;

/**
 * Combines the parts of one item. The worst part counts: the one with the highest score, the first among equals. The
 * other parts add only flags that raise a decision regardless of scores: the overall flag, severe and unknown categories,
 * and every category of a part that was not flagged overall.
 */
export class WorstPart<P extends ScoredPart> {
  #worst: P | null = null;
  #flagged = false;
  readonly #floorFlags = new Set<string>();
  #unknownFlags = 0;

  /** Returns whether this part is now the worst. */
  add(part: P): boolean {
    this.#flagged ||= part.flagged;
    for (const key of part.subcategoryFlags ?? []) {
      if (hasFloor(key) || !part.flagged) this.#addFloorFlag(key);
    }
    if (this.#worst !== null && part.score <= this.#worst.score) return false;
    this.#worst = part;
    return true;
  }

  #addFloorFlag(key: string): void {
    if (this.#floorFlags.has(key)) return;
    const isExcess = !isCategoryKey(key) && this.#unknownFlags++ >= MAX_UNKNOWN_CATEGORIES;
    this.#floorFlags.add(isExcess ? OTHER_CATEGORIES : key);
  }

  /** The worst part with the flags that the others add; null before the first part. */
  get combined(): P | null {
    if (this.#worst === null) return null;
    const flags = this.#worst.subcategoryFlags;
    const missing = [...this.#floorFlags].filter((key) => flags?.includes(key) !== true);
    return {
      ...this.#worst,
      flagged: this.#flagged,
      subcategoryFlags: missing.length === 0 ? flags : [...(flags ?? []), ...missing],
    };
  }
}
