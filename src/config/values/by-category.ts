import { z } from 'zod';
import { FOREIGN_CATEGORY, type ForeignCategory } from '../../domain/taxonomy.ts';

const FOREIGN = new RegExp(`^${FOREIGN_CATEGORY}$`);

/** Schema of a mapping by category: by the given keys, and by categories of other taxonomies such as `openai/hate`. */
export function byCategory<K extends string, S extends z.ZodType>(
  keys: readonly K[],
  value: S,
): z.ZodType<Partial<Record<K | ForeignCategory, z.output<S>>>> {
  const known: ReadonlySet<string> = new Set(keys);
  return z
    .object(Object.fromEntries(keys.map((key) => [key, value.optional()])))
    .catchall(value)
    .check(({ value: found, issues }) => {
      const unknown = Object.keys(found).filter((key) => !known.has(key) && !FOREIGN.test(key));
      if (unknown.length > 0) issues.push({ code: 'unrecognized_keys', keys: unknown, input: found });
    })
    .meta({
      propertyNames: { anyOf: [{ enum: keys }, { pattern: FOREIGN.source }] },
    }) as unknown as z.ZodType<Partial<Record<K | ForeignCategory, z.output<S>>>>;
}
