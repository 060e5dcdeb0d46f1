import type { ItemFilter } from '../../../../src/dashboard/api/items.ts';
import { NO_FILTER, type ItemSort } from '../place.ts';

/**
 * A filter in the address, after the `#`, which browsers do not send: for bookmarks and for sharing. Searches and names
 * of corpora are omitted, since they may be content.
 */

const LISTS = ['decisions', 'categories', 'modalities', 'errorCodes'] as const;
const SCORES = ['minScore', 'maxScore'] as const;
const DEFAULT_SORT: ItemSort = 'severity';
/** Maximum length: longer addresses are not ours. */
const MAX_CHARS = 2000;

/** Formats a filter such as `#decisions=review,block&sort=open`; empty for the whole list in its usual order. */
export function formatFilterHash(filter: ItemFilter, sort: ItemSort): string {
  const parts = new URLSearchParams();
  for (const key of LISTS) if (filter[key].length > 0) parts.set(key, filter[key].join(','));
  for (const key of SCORES) if (filter[key] !== null) parts.set(key, String(filter[key]));
  if (filter.review !== 'any') parts.set('review', filter.review);
  if (filter.fresh) parts.set('new', '1');
  if (sort !== DEFAULT_SORT) parts.set('sort', sort);
  return parts.size === 0 ? '' : `#${parts.toString().replaceAll('%2C', ',')}`;
}

/** Parses filter and order from an address; null if there are none. The server validates them. */
export function parseFilterHash(
  hash: string,
): { readonly filter: ItemFilter; readonly sort: ItemSort } | null {
  if (hash.length < 2 || hash.length > MAX_CHARS) return null;
  const parts = new URLSearchParams(hash.slice(1));
  const lists = LISTS.map((key) => [key, parts.get(key)?.split(',') ?? []]);
  const scores = SCORES.map((key) => [key, parts.has(key) ? Number(parts.get(key)) : null]);
  return {
    filter: {
      ...NO_FILTER,
      ...(Object.fromEntries([...lists, ...scores]) as Partial<ItemFilter>),
      review: (parts.get('review') ?? NO_FILTER.review) as ItemFilter['review'],
      fresh: parts.has('new'),
    },
    sort: (parts.get('sort') ?? DEFAULT_SORT) as ItemSort,
  };
}
