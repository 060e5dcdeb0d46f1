import type { ItemFilter, ItemQuery } from '../../../src/dashboard/api/items.ts';

export type ItemSort = NonNullable<ItemQuery['sort']>;

/** A place in the review list of a run. */
export interface Place {
  readonly filter: ItemFilter;
  readonly sort: ItemSort;
  /** Position of the selected row, from 0. */
  readonly position: number;
}

export const NO_FILTER: ItemFilter = {
  decisions: [],
  categories: [],
  modalities: [],
  corpora: [],
  errorCodes: [],
  minScore: null,
  maxScore: null,
  search: '',
  review: 'any',
  fresh: false,
  seqs: null,
};

export const FIRST_PLACE: Place = { filter: NO_FILTER, sort: 'severity', position: 0 };

/** Stored for this tab only, and not in the address: a search may be content. */
const keyOf = (run: string): string => `guardsweep.review.${run}`;

export function savePlace(run: string, place: Place): void {
  sessionStorage.setItem(keyOf(run), JSON.stringify(place));
}

/** The last saved place; the first place if there is none that this build can read. */
export function loadPlace(run: string): Place {
  try {
    const saved = JSON.parse(sessionStorage.getItem(keyOf(run)) ?? 'null') as Place | null;
    if (saved === null || !Number.isSafeInteger(saved.position) || typeof saved.sort !== 'string') {
      return FIRST_PLACE;
    }
    // The server rejects a filter of another build.
    return { ...saved, filter: { ...NO_FILTER, ...saved.filter } };
  } catch {
    return FIRST_PLACE;
  }
}

/** Number of parts of a filter that are set. */
export function filtersSet(filter: ItemFilter): number {
  const { decisions, categories, modalities, corpora, errorCodes, minScore, maxScore, search } = filter;
  const lists = [decisions, categories, modalities, corpora, errorCodes];
  return [
    ...lists.map((list) => list.length > 0),
    minScore !== null || maxScore !== null,
    search !== '',
    filter.review !== 'any',
    filter.fresh,
    filter.seqs !== null,
  ].filter(Boolean).length;
}
