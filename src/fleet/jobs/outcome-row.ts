import { z } from 'zod';
import { COVERAGE_UNITS } from '../../domain/item.ts';
import {
  ITEM_CODES,
  ITEM_ERROR_REASONS,
  mayBeRetryable,
  mayHaveReason,
  passingError,
  type ItemCode,
  type ItemError,
  type ItemErrorReason,
} from '../../domain/item-error.ts';
import type { Outcome } from '../../domain/outcome.ts';
import { CATEGORY_KEYS, type CategoryKey } from '../../domain/taxonomy.ts';
import { named, namedOrNull, type Names } from './names.ts';
import {
  count,
  flag,
  list,
  listOf,
  notNegative,
  nullOr,
  number,
  oneOf,
  row,
  share,
  textUpTo,
  type Check,
  type Checked,
} from './rows.ts';

/** Flags of one item, and units of one text: no guard of ours gives as many, and a log is kept for ever. */
const MAX_FLAGS = 1000;
const MAX_TEXT = 1000;

const message = textUpTo(MAX_TEXT);
const listOfFlags = list(textUpTo(MAX_TEXT));

/** By index of the taxonomy; null where a probe did not answer. */
const scores = listOf(CATEGORY_KEYS.length, nullOr(share));
const flags: Check<readonly string[]> = (value): value is readonly string[] =>
  listOfFlags(value) && value.length <= MAX_FLAGS;
const place = count;

const isJudged = row(
  share, // score
  flag, // flagged
  nullOr(scores),
  nullOr(flags),
  nullOr(place), // fingerprint
  place, // endpoint
  notNegative, // latencyMs
  count, // attempts
  nullOr(list(number)), // cacheUsage
  place, // moderatedAt
  oneOf(COVERAGE_UNITS),
  notNegative, // judged
  notNegative, // total
  nullOr(number), // worst_at
);

const isFailed = row(
  oneOf(ITEM_CODES),
  message,
  count, // attempts
  nullOr(place), // endpoint
  place, // moderatedAt
);

const PASSING_CODES = ITEM_CODES.filter((code) => mayBeRetryable(code, true));
const isTrue: Check<true> = (value): value is true => value === true;

/** The same with an error whose cause may pass. */
const isPassing = row(oneOf(PASSING_CODES), message, count, nullOr(place), place, isTrue);

const isFailedWithReason = row(
  oneOf(ITEM_CODES),
  message,
  count,
  nullOr(place),
  place,
  oneOf(ITEM_ERROR_REASONS),
);

type OutcomeRow =
  | Checked<typeof isJudged>
  | Checked<typeof isFailed>
  | Checked<typeof isPassing>
  | Checked<typeof isFailedWithReason>;

/**
 * An outcome as it travels: without the keys, which are two thirds of its JSON, and with what it shares with its
 * neighbours named.
 */
export const OUTCOME_ROW = z.custom<OutcomeRow>(
  (value) =>
    isJudged(value) ||
    isFailed(value) ||
    isPassing(value) ||
    (isFailedWithReason(value) && mayHaveReason(value[0], value[5])),
);

export function packOutcome({ judgement, failure }: Outcome, names: Names): OutcomeRow {
  if (failure !== null) {
    const { error, attempts, endpoint, moderatedAt } = failure;
    const failed = [
      error.code,
      error.message,
      attempts,
      names.placeOrNull(endpoint),
      names.place(moderatedAt),
    ] as const;
    if (error.reason !== undefined) return [...failed, error.reason];
    return error.retryable === true ? [...failed, true] : [...failed];
  }
  const { subcategoryScores: scores, subcategoryFlags, cacheUsage, coverage } = judgement;
  return [
    judgement.score,
    judgement.flagged,
    scores === null ? null : CATEGORY_KEYS.map((key) => scores[key] ?? null),
    subcategoryFlags,
    names.placeOrNull(judgement.fingerprint),
    names.place(judgement.endpoint),
    judgement.latencyMs,
    judgement.attempts,
    cacheUsage,
    names.place(judgement.moderatedAt),
    coverage.unit,
    coverage.judged,
    coverage.total,
    coverage.worst_at,
  ];
}

/** Throws when it names what is not in the list. */
export function unpackOutcome(row: OutcomeRow, list: readonly string[]): Outcome {
  if (row.length === 5 || row.length === 6) {
    const [code, message, attempts, endpoint, moderatedAt, mark] = row;
    return {
      judgement: null,
      failure: {
        error: unpackError(code, message, mark),
        attempts,
        endpoint: namedOrNull(list, endpoint),
        moderatedAt: when(list, moderatedAt),
      },
    };
  }
  const [
    score,
    flagged,
    scores,
    flags,
    fingerprint,
    endpoint,
    latencyMs,
    attempts,
    cacheUsage,
    at,
    ...coverage
  ] = row;
  const [unit, judged, total, worst_at] = coverage;
  return {
    judgement: {
      score,
      flagged,
      subcategoryScores: scores === null ? null : byKey(scores),
      subcategoryFlags: flags,
      fingerprint: namedOrNull(list, fingerprint),
      endpoint: named(list, endpoint),
      latencyMs,
      attempts,
      cacheUsage,
      moderatedAt: when(list, at),
      coverage: { unit, judged, total, worst_at },
    },
    failure: null,
  };
}

function unpackError(code: ItemCode, message: string, mark: true | ItemErrorReason | undefined): ItemError {
  if (mark === undefined) return { code, message };
  return mark === true ? passingError(code, message) : { code, message, reason: mark };
}

/** ISO 8601, UTC, milliseconds. */
const WHEN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

function when(list: readonly string[], place: number): string {
  const text = named(list, place);
  if (!WHEN.test(text)) throw new Error('an outcome is of no time');
  return text;
}

function byKey(scores: readonly (number | null)[]): Partial<Record<CategoryKey, number>> {
  const keyed: Partial<Record<CategoryKey, number>> = {};
  for (const [index, key] of CATEGORY_KEYS.entries()) {
    const score = scores[index];
    if (typeof score === 'number') keyed[key] = score;
  }
  return keyed;
}
