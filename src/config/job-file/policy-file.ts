import { z } from 'zod';
import { isPlausibleCategoryName } from '../../domain/words/category-spelling.ts';
import { withFallback, type Policy, type Thresholds } from '../../domain/policy.ts';
import {
  CATEGORY_KEYS,
  listForeignCategories,
  isCategoryKey,
  MAX_FOREIGN_CATEGORIES,
  type CategoryName,
} from '../../domain/taxonomy.ts';
import { byCategory } from '../values/by-category.ts';
import { type WithOrigin, usageError } from '../usage-error.ts';
import { checkShape, readYamlFile, type YamlFile } from '../yaml-file.ts';

const THRESHOLD_KEYS = ['default', ...CATEGORY_KEYS] as const;

type ThresholdKey = CategoryName | 'default';

const probability = z.number().min(0).max(1);

const THRESHOLDS_SCHEMA = z.strictObject({
  review: probability.optional().meta({ description: 'Review from this probability on.' }),
  block: probability.optional().meta({ description: 'Block from this probability on.' }),
});

const categoryName = z
  .string()
  .max(100)
  .refine((name) => isPlausibleCategoryName(name) && !isCategoryKey(name), {
    error: 'a name that a guard gives a category, and none of ours',
  });

/** Shape of a policy file. */
export const POLICY_SCHEMA = z
  .strictObject({
    thresholds: byCategory(THRESHOLD_KEYS, THRESHOLDS_SCHEMA).optional().meta({
      description:
        'Probabilities from 0 to 1. `default` applies to the overall score, and to a category wherever that category has no threshold of its own. Categories of other taxonomies have names such as `openai/hate`.',
    }),
    allowFlagged: z.boolean().optional().meta({
      description:
        'Let the thresholds allow what the guard itself flagged or, in a stream, asked for caution on. Default: false.',
    }),
    allowPartial: z
      .boolean()
      .optional()
      .meta({ description: 'Let the thresholds allow what was judged only in part. Default: false.' }),
    taxonomy: z.record(categoryName, z.enum(CATEGORY_KEYS)).optional().meta({
      description:
        'Categories of guards that count as ours, such as `openai/hate: hate` or `Toxicity: hate`. Scores and flags keep their own names in the record.',
    }),
  })
  .meta({ title: 'guardsweep policy' });

function checkOrder(key: ThresholdKey, thresholds: Thresholds, own: Thresholds, yaml: YamlFile): void {
  const { review, block } = thresholds;
  if (review === undefined || block === undefined || review <= block) return;
  const level = own.review === undefined ? 'block' : 'review';
  const inherited = own.review === undefined || own.block === undefined ? ' (one of them from default)' : '';
  throw usageError(
    `${yaml.at(['thresholds', key, level])}: thresholds.${key}.${level}`,
    `review ${review} is above block ${block}${inherited}; nothing would ever be reviewed`,
  );
}

/**
 * Reads a policy file. Every category it names gets both its thresholds, a missing one from `default`. `named` is the
 * path as messages show it, and the origin that named it. Failure('usage') for the first mistake in it, with its line
 * and column.
 */
export async function readPolicyFile(absolute: string, named: WithOrigin<string>): Promise<Policy> {
  const yaml = await readYamlFile(absolute, named);
  const parsed = checkShape(POLICY_SCHEMA, yaml);
  const flags = {
    ...{ allowFlagged: parsed.allowFlagged ?? false, allowPartial: parsed.allowPartial ?? false },
    ...(parsed.taxonomy !== undefined && { taxonomy: parsed.taxonomy }),
  };
  if (parsed.thresholds === undefined) return { thresholds: null, ...flags };

  const thresholds: Partial<Record<ThresholdKey, Thresholds>> = {};
  const foreign = listForeignCategories(parsed.thresholds);
  if (foreign.length > MAX_FOREIGN_CATEGORIES) {
    const found = `names ${foreign.length} categories of other taxonomies; at most ${MAX_FOREIGN_CATEGORIES} are allowed`;
    throw usageError(`${yaml.at(['thresholds'])}: thresholds`, `${found}`);
  }
  for (const key of [...THRESHOLD_KEYS, ...foreign]) {
    const own = parsed.thresholds[key];
    if (own === undefined) continue;
    if (own.review === undefined && own.block === undefined) {
      throw usageError(`${yaml.at(['thresholds', key])}: thresholds.${key}`, 'needs review, block or both');
    }
    thresholds[key] = withFallback(own, key === 'default' ? undefined : parsed.thresholds.default);
    checkOrder(key, thresholds[key], own, yaml);
  }
  if (Object.keys(thresholds).length === 0) {
    throw usageError(`${yaml.at(['thresholds'])}: thresholds`, 'needs at least a default');
  }
  return { thresholds, ...flags };
}
