import type { ThresholdQuery } from '../../../src/dashboard/api/items.ts';
import type { Policy, Thresholds } from '../../../src/domain/policy.ts';
import {
  CATEGORY_KEYS,
  type CategoryKey,
  type CategoryName,
  listForeignCategories,
} from '../../../src/domain/taxonomy.ts';

export type Key = 'default' | CategoryName;
export type Level = 'review' | 'block';

/** In a category, null inherits from `default`; in `default`, null means never. Policy files have the same rule. */
export type Levels = Readonly<Record<Level, number | null>>;

/** The thresholds shown by the sliders. */
export type Model = Readonly<Record<'default' | CategoryKey, Levels> & Partial<Record<CategoryName, Levels>>>;

/** The categories with sliders: ours first, then those of other taxonomies by name. */
export function keysOf(model: Model): readonly Key[] {
  return ['default', ...CATEGORY_KEYS, ...listForeignCategories(model)];
}

const levelsOf = (thresholds: Thresholds | undefined): Levels => ({
  review: thresholds?.review ?? null,
  block: thresholds?.block ?? null,
});

/**
 * The thresholds of a policy for our categories, other categories in the policy, and those with scores in the run. A
 * category with the threshold of `default` follows `default`.
 */
export function createModel(
  { thresholds }: Policy,
  scored: Readonly<Partial<Record<CategoryName, unknown>>> = {},
): Model {
  const fallback = levelsOf(thresholds?.default);
  const entries = [...CATEGORY_KEYS, ...listForeignCategories({ ...thresholds, ...scored })].map((key) => {
    const { review, block } = levelsOf(thresholds?.[key]);
    return [
      key,
      { review: review === fallback.review ? null : review, block: block === fallback.block ? null : block },
    ] as const;
  });
  return { default: fallback, ...Object.fromEntries(entries) } as Model;
}

/** The category's own thresholds. */
export function ownLevels(model: Model, key: Key): Levels {
  return model[key] ?? { review: null, block: null };
}

/** The thresholds in effect for a category, or for the overall score. */
export function effective(model: Model, key: Key): Levels {
  const { review, block } = ownLevels(model, key);
  return { review: review ?? model.default.review, block: block ?? model.default.block };
}

/** Sets a threshold. If review would be above block, the other one of the two is moved too. */
export function withLevel(model: Model, key: Key, level: Level, value: number | null): Model {
  const changed = { ...model, [key]: { ...ownLevels(model, key), [level]: value } };
  const { review, block } = effective(changed, key);
  if (value === null || review === null || block === null || review <= block) return changed;
  return { ...changed, [key]: { review: value, block: value } };
}

/**
 * The keys whose review threshold is above their block threshold. Policy files reject that: nothing would be reviewed.
 */
export function findCrossedThresholds(model: Model): readonly Key[] {
  return keysOf(model).filter((key) => {
    const { review, block } = effective(model, key);
    return review !== null && block !== null && review > block;
  });
}

/** Whether there is any threshold at all. */
export function hasThresholds(model: Model): boolean {
  return keysOf(model).some((key) => {
    const { review, block } = ownLevels(model, key);
    return review !== null || block !== null;
  });
}

/** The request to the server, with thresholds in the format of a policy file. */
export function toThresholdQuery(model: Model): ThresholdQuery {
  return { thresholds: Object.fromEntries(keysOf(model).map((key) => [key, ownLevels(model, key)])) };
}

const LEVELS = ['review', 'block'] as const;

const flowOf = (levels: Levels): string =>
  LEVELS.filter((level) => levels[level] !== null)
    .map((level) => `${level}: ${levels[level]}`)
    .join(', ');

/**
 * A policy file equivalent to the sliders; without any threshold, the guard's flags decide. The rest of the policy is
 * kept.
 */
export function policyYaml(model: Model, policy: Policy): string {
  const { allowFlagged, allowPartial, taxonomy = {} } = policy;
  const thresholds = keysOf(model)
    .map((key) => [key, flowOf(ownLevels(model, key))] as const)
    .filter(([, flow]) => flow !== '')
    .map(([key, flow]) => `  ${key}: { ${flow} }\n`);
  const first = thresholds.length === 0 ? '' : `thresholds:\n${thresholds.join('')}`;
  const mapped = Object.entries(taxonomy).map(([name, key]) => `  ${JSON.stringify(name)}: ${key}\n`);
  const rest = mapped.length === 0 ? '' : `taxonomy:\n${mapped.join('')}`;
  return `${first}allowFlagged: ${allowFlagged}\nallowPartial: ${allowPartial}\n${rest}`;
}
