import type { Judgement } from './outcome.ts';
import {
  isCategoryKey,
  isForeignCategory,
  MAX_FOREIGN_CATEGORIES,
  OTHER_CATEGORIES,
  type CategoryName,
} from './taxonomy.ts';

/** Maximum flags outside any known taxonomy to keep by name: thousands of parts may each have different ones. */
const MAX_UNKNOWN_FLAGS = 20;

export type ScoredPart = Pick<Judgement, 'score' | 'flagged' | 'subcategoryScores' | 'subcategoryFlags'>;

/**
 * Combines the parts of one item: the highest score overall and per category, and the union of the flags. The decision
 * on an item is therefore never milder than that on any of its parts, regardless of the policy.
 */
export class CombinedParts<P extends ScoredPart> {
  #worst: P | null = null;
  #flagged = false;
  #scores: Map<CategoryName, number> | null = null;
  #flags: Set<string> | null = null;
  readonly #foreign = new Set<string>();
  #unknownFlags = 0;

  /** Adds a part; returns whether it has the highest score so far. */
  add(part: P): boolean {
    this.#flagged ||= part.flagged;
    if (part.subcategoryScores !== null) this.#addScores(part.subcategoryScores);
    if (part.subcategoryFlags !== null) {
      this.#flags ??= new Set();
      for (const flag of part.subcategoryFlags) this.#addFlag(this.#flags, flag);
    }
    if (this.#worst !== null && part.score <= this.#worst.score) return false;
    this.#worst = part;
    return true;
  }

  #addScores(scores: NonNullable<ScoredPart['subcategoryScores']>): void {
    this.#scores ??= new Map();
    for (const [name, score] of Object.entries(scores) as [CategoryName, number][]) {
      if (this.isOverfull) return;
      if (!isCategoryKey(name)) this.#foreign.add(name);
      this.#scores.set(name, Math.max(this.#scores.get(name) ?? 0, score));
    }
  }

  #addFlag(flags: Set<string>, flag: string): void {
    if (flags.has(flag) || this.isOverfull) return;
    const isForeign = isForeignCategory(flag);
    if (isForeign) this.#foreign.add(flag);
    const isUnknown = !isForeign && !isCategoryKey(flag);
    flags.add(isUnknown && this.#unknownFlags++ >= MAX_UNKNOWN_FLAGS ? OTHER_CATEGORIES : flag);
  }

  /**
   * Whether the parts name more categories of other taxonomies than an outcome can hold. If so, `combined` lacks some.
   */
  get isOverfull(): boolean {
    return this.#foreign.size > MAX_FOREIGN_CATEGORIES;
  }

  /** The part with the highest score, with the combined scores and flags; null before the first part. */
  get combined(): P | null {
    return (
      this.#worst && {
        ...this.#worst,
        flagged: this.#flagged,
        subcategoryScores: this.#scores && Object.fromEntries(this.#scores),
        subcategoryFlags: this.#flags && [...this.#flags],
      }
    );
  }
}
