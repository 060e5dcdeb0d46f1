import type { Fields } from '../record.ts';
import { holdsText } from './columns.ts';
import { isIdName, isReference, looksLikeId } from './wording.ts';

interface Named {
  /** Name of the column, or of the innermost member that contains the value. */
  readonly name: string;
  readonly value: unknown;
}

/**
 * All texts of a record outside the given columns, in order, including those in lists and objects. Numbers, URLs, times,
 * hashes and blank values are not texts, nor are ids under names of ids. A single word with a digit or an underscore may
 * be an id: it counts as text unless its name is that of an id.
 */
export function textsBeside(fields: Fields, columns: readonly string[]): string[] {
  const left = new Set(columns.map((name) => fields.positionOf(name)));
  const texts: string[] = [];
  // An explicit stack, last first: values nest as deep as a parser lets them.
  const pending: Named[] = fields
    .names()
    .map((name, position): Named => ({ name, value: left.has(position) ? null : fields.at(position) }))
    .reverse();
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { name, value } = next;
    if (holdsText(value)) {
      if (!isReference(value) && !(isIdName(name) && looksLikeId(value))) texts.push(value);
    } else if (Array.isArray(value)) {
      for (const member of value.toReversed() as unknown[]) pending.push({ name, value: member });
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, member] of Object.entries(value).reverse()) pending.push({ name: key, value: member });
    }
  }
  return texts;
}
