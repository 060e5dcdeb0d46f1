import {
  CATEGORY_KEYS,
  isCategoryName,
  isForeignCategory,
  type CategoryName,
} from '../../domain/taxonomy.ts';
import { type WithOrigin, usageError, oneOf, quoteForMessage } from '../usage-error.ts';
import type { Gates } from '../run-config.ts';
import { parseRate } from './quantities.ts';

/** Gates over all items or verdicts of a run, in the order of the summary. */
export const RATE_GATES = ['flaggedRate', 'blockedRate', 'errorRate', 'uncoveredRate'] as const;

type RateGate = (typeof RATE_GATES)[number];

type CategoryGates = Readonly<Partial<Record<CategoryName, number>>>;

/** The gates that were given; the others stay unset. */
export interface GivenGates {
  readonly rates: Readonly<Partial<Record<RateGate, number>>>;
  readonly categories: CategoryGates;
}

const RATE_BY_WORD: Readonly<Record<string, RateGate>> = {
  'flagged-rate': 'flaggedRate',
  'blocked-rate': 'blockedRate',
  'error-rate': 'errorRate',
  'uncovered-rate': 'uncoveredRate',
};

/**
 * Parses gates as typed: `flagged-rate=0.01`, `hate=0.001`. Failure('usage') for a name that is neither a gate nor a
 * category, and for a rate that is not a fraction from 0 to 1.
 */
export function parseGates(texts: readonly WithOrigin<string>[]): GivenGates {
  const rates: Partial<Record<RateGate, number>> = {};
  const categories: Partial<Record<CategoryName, number>> = {};
  for (const { value, place } of texts) {
    const [word, rate] = splitGate({ value, place });
    const known = [...Object.keys(RATE_BY_WORD), ...CATEGORY_KEYS];
    const name = isForeignCategory(word) ? word : oneOf(known, { value: word, place });
    const limit = parseRate({ value: rate, place });
    if (isCategoryName(name)) categories[name] = limit;
    else rates[RATE_BY_WORD[name]!] = limit;
  }
  return { rates, categories };
}

/** Parses limits of categories, each as `hate=0.001`. Failure('usage') as in `parseGates`. */
export function parseCategoryGates(texts: readonly WithOrigin<string>[]): CategoryGates {
  return parseGates(texts).categories;
}

function splitGate({ value, place }: WithOrigin<string>): readonly [name: string, rate: string] {
  const equals = value.indexOf('=');
  if (equals !== -1) return [value.slice(0, equals), value.slice(equals + 1)];
  throw usageError(
    place,
    `expected NAME=RATE such as flagged-rate=0.01 or hate=0.01, found ${quoteForMessage(value)}`,
  );
}

/** Merges all gates of a run: those of flags override those of the job file. */
export function mergeGates(
  rates: Readonly<Record<RateGate, number | null>>,
  categories: CategoryGates,
  flags: GivenGates | null,
): Gates {
  return {
    ...rates,
    ...flags?.rates,
    categories: { ...categories, ...flags?.categories },
  };
}
