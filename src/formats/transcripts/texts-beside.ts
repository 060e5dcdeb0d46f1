import type { Fields } from '../record.ts';
import { holdsText } from './columns.ts';
import { looksLikeId } from './wording.ts';

/**
 * All texts of a record but those of the given columns, in order, those in lists and objects included: what somebody
 * may want judged, which numbers, ids, addresses and blank values are not.
 */
export function textsBeside(fields: Fields, columns: readonly string[]): string[] {
  const left = new Set(columns.map((name) => fields.positionOf(name)));
  const texts: string[] = [];
  // An explicit stack, last first: values nest as deep as a parser lets them.
  const pending: unknown[] = fields
    .names()
    .map((_, position) => (left.has(position) ? null : fields.at(position)))
    .reverse();
  while (pending.length > 0) {
    const value = pending.pop();
    if (holdsText(value)) {
      if (!looksLikeId(value)) texts.push(value);
    } else if (typeof value === 'object' && value !== null) {
      for (const member of Object.values(value).reverse()) pending.push(member);
    }
  }
  return texts;
}
