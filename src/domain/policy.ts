import type { Decision } from './outcome.ts';
import {
  CATEGORY_KEYS,
  listForeignCategories,
  isCategoryName,
  isForeignCategory,
  type CategoryKey,
  type CategoryName,
  type CategoryScores,
} from './taxonomy.ts';

/** Minimum scores for review and block; a missing threshold never applies. */
export interface Thresholds {
  readonly review?: number | undefined;
  readonly block?: number | undefined;
}

/** The caller's rules for turning scores into decisions. */
export interface Policy {
  /**
   * Thresholds by category; `default` applies to SCORE and to categories without their own. Null if there is no policy
   * file, in which case the guard's own FLAGGED decides between block and allow.
   */
  readonly thresholds: Readonly<Partial<Record<CategoryName | 'default', Thresholds>>> | null;
  /**
   * By default, an item that the guard flagged, overall or for a category, or for which it asked for caution, is at least
   * reviewed. True disables that.
   */
  readonly allowFlagged: boolean;
  /** By default, an item that was judged only in part is at least reviewed. True disables that. */
  readonly allowPartial: boolean;
  /**
   * Categories of other taxonomies that also count as ours, and flags outside any known taxonomy that count as ours
   * instead. The author of the policy claims that they mean the same.
   */
  readonly taxonomy?: Taxonomy | undefined;
}

/** Maps the guard's category names to ours. */
export type Taxonomy = Readonly<Record<string, CategoryKey>>;

/** Names that a policy maps to ours, in order. */
export function mappedCategoryNames(taxonomy: Taxonomy = {}): string[] {
  return Object.keys(taxonomy).sort();
}

/** Thresholds as in a policy file, where null means that a level is missing. */
export interface EditedThresholds {
  readonly review: number | null;
  readonly block: number | null;
}

/** Fills gaps in a category's thresholds from `default`, so one can be set without the other. */
export function withFallback(own: Thresholds, fallback: Thresholds | undefined): Thresholds {
  const review = own.review ?? fallback?.review;
  const block = own.block ?? fallback?.block;
  return { ...(review === undefined ? {} : { review }), ...(block === undefined ? {} : { block }) };
}

/**
 * The policy with other thresholds, which work as in a policy file: a category with one level gets the other from
 * `default`, and one with neither is as if it were not named. Without any threshold, the guard's FLAGGED decides.
 */
export function withThresholds(
  policy: Policy,
  edited: Readonly<Partial<Record<CategoryName | 'default', EditedThresholds | undefined>>>,
): Policy {
  const own = { ...policy.thresholds };
  const keys = ['default', ...CATEGORY_KEYS, ...listForeignCategories({ ...own, ...edited })] as const;
  for (const key of keys) {
    const levels = edited[key];
    if (levels !== undefined)
      own[key] = { review: levels.review ?? undefined, block: levels.block ?? undefined };
  }
  const thresholds: Partial<Record<CategoryName | 'default', Thresholds>> = {};
  for (const key of keys) {
    const levels = own[key];
    if (levels?.review === undefined && levels?.block === undefined) continue;
    thresholds[key] = withFallback(levels, key === 'default' ? undefined : own.default);
  }
  return { ...policy, thresholds: Object.keys(thresholds).length === 0 ? null : thresholds };
}

export const DEFAULT_POLICY: Policy = { thresholds: null, allowFlagged: false, allowPartial: false };

/** The part of a judgement on which a decision depends. All of it is recorded, so policies can be replayed. */
export interface PolicyInput {
  readonly score: number;
  readonly flagged: boolean;
  readonly subcategoryScores: CategoryScores | null;
  readonly subcategoryFlags: readonly string[] | null;
  /** Whether any verdict of a stream had `needs_caution`. */
  readonly needsCaution: boolean;
  readonly partial: boolean;
}

export interface PolicyDecision {
  readonly decision: Decision;
  /** The rule that made the decision, such as `hate>=0.4`, `score>=0.8`, `flagged`; null if no rule applied. */
  readonly decidedBy: string | null;
  /** Whether a category threshold of the policy could not be applied because the guard returned no score. */
  readonly thresholdUnapplied: boolean;
}

/** Returns the thresholds for a category: its own, or else the default ones. Undefined if there are neither. */
export function findThresholds({ thresholds }: Policy, key: CategoryName): Thresholds | undefined {
  return thresholds?.[key] ?? thresholds?.default;
}

/** Categories whose flag blocks regardless of the thresholds. */
export const SEVERE_CATEGORIES = ['child_sexual_exploitation', 'openai/sexual/minors'] as const;

const SEVERITY: Readonly<Record<Decision, number>> = { allow: 0, review: 1, block: 2 };

/** Adds a guard's scores and flags under our category names where a policy maps them. */
export function applyCategoryMapping<S extends CategoryScores | null, F extends readonly string[] | null>(
  { taxonomy }: Policy,
  scores: S,
  flags: F,
): readonly [S, F] {
  if (taxonomy === undefined) return [scores, flags];
  const ours: Partial<Record<CategoryName, number>> = { ...scores };
  const flagged = new Set(flags);
  for (const name of mappedCategoryNames(taxonomy)) {
    const key = taxonomy[name]!;
    const score = isForeignCategory(name) ? scores?.[name] : undefined;
    if (score !== undefined) ours[key] = Math.max(ours[key] ?? 0, score);
    if (!flagged.has(name)) continue;
    flagged.add(key);
    if (!isForeignCategory(name)) flagged.delete(name);
  }
  return [scores && (ours as S), flags && ([...flagged] as readonly string[] as F)];
}

/** The severest decision of all rules of the policy; among equally severe rules, the first in the order below wins. */
export function decide(policy: Policy, scored: PolicyInput): PolicyDecision {
  let decision: Decision = 'allow';
  let decidedBy: string | null = null;
  const consider = (candidate: Decision, rule: string): void => {
    if (SEVERITY[candidate] > SEVERITY[decision]) {
      decision = candidate;
      decidedBy = rule;
    }
  };
  const apply = (name: string, score: number, thresholds: Thresholds | undefined): void => {
    if (thresholds?.block !== undefined && score >= thresholds.block)
      consider('block', `${name}>=${thresholds.block}`);
    else if (thresholds?.review !== undefined && score >= thresholds.review) {
      consider('review', `${name}>=${thresholds.review}`);
    }
  };

  const [scores, judgedFlags] = applyCategoryMapping(
    policy,
    scored.subcategoryScores,
    scored.subcategoryFlags,
  );
  let thresholdUnapplied = false;
  if (policy.thresholds === null) {
    if (scored.flagged) consider('block', 'flagged');
  } else {
    apply('score', scored.score, policy.thresholds.default);
    for (const key of CATEGORY_KEYS) {
      const score = scores?.[key];
      if (score !== undefined) apply(key, score, findThresholds(policy, key));
      else if (policy.thresholds[key] !== undefined) thresholdUnapplied = true;
    }
    for (const name of listForeignCategories(scores)) {
      apply(name, scores![name]!, findThresholds(policy, name));
    }
    thresholdUnapplied ||= listForeignCategories(policy.thresholds).some(
      (name) => scores?.[name] === undefined,
    );
  }
  const flags = judgedFlags ?? [];
  for (const key of SEVERE_CATEGORIES) if (flags.includes(key)) consider('block', `${key} flagged`);
  if (flags.some((key) => !isCategoryName(key))) consider('review', 'unknown category flagged');
  if (scored.partial && !policy.allowPartial) consider('review', 'partial coverage');
  if (!policy.allowFlagged) {
    if (scored.flagged) consider('review', 'flagged');
    else if (flags.length > 0) consider('review', `${flags[0]} flagged`);
    if (scored.needsCaution) consider('review', 'needs_caution');
  }
  return { decision, decidedBy, thresholdUnapplied };
}
