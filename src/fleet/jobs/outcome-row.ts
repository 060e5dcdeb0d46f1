import { z } from 'zod';
import { COVERAGE_UNITS } from '../../domain/coverage.ts';
import type { FailedJudgement, Judgement, Outcome } from '../../domain/outcome.ts';
import { CATEGORY_KEYS, type CategoryKey } from '../../domain/taxonomy.ts';
import { errorRow, packError, unpackError } from './error-row.ts';
import { named, namedOrNull, type Names } from './names.ts';
import {
  count,
  flag,
  list,
  listOf,
  notNegative,
  nullOr,
  number,
  only,
  oneOf,
  row,
  share,
  textUpTo,
  type Check,
  type Checked,
} from './rows.ts';

/** Flags of one item, and UTF-16 code units of one text: more than any guard returns, and a log is kept for ever. */
const MAX_FLAGS = 1000;
const MAX_TEXT = 1000;

const listOfFlags = list(textUpTo(MAX_TEXT));

/** In the order of the taxonomy; null where a probe did not answer. */
const scores = listOf(CATEGORY_KEYS.length, nullOr(share));
const flags: Check<readonly string[]> = (value): value is readonly string[] =>
  listOfFlags(value) && value.length <= MAX_FLAGS;
const place = count;

/** The first column of a row. */
const KIND = { verdict: 0, error: 1 } as const;

export const isVerdictRow = row(
  only(KIND.verdict),
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

const isFailure = row(
  only(KIND.error),
  errorRow(textUpTo(MAX_TEXT)),
  count, // attempts
  nullOr(place), // endpoint
  place, // moderatedAt
);

type VerdictRow = Checked<typeof isVerdictRow>;

type FailureRow = Checked<typeof isFailure>;

type OutcomeRow = VerdictRow | FailureRow;

/**
 * An outcome as it travels: without the keys, which are two thirds of its JSON, and with the texts it shares with its
 * neighbours named.
 */
export const OUTCOME_ROW = z.custom<OutcomeRow>((value) => isVerdictRow(value) || isFailure(value));

export function packOutcome({ judgement, failure }: Outcome, names: Names): OutcomeRow {
  return failure === null ? packVerdict(judgement, names) : packFailure(failure, names);
}

/** Throws when the row names what is not in the list. */
export function unpackOutcome(row: OutcomeRow, list: readonly string[]): Outcome {
  return row[0] === KIND.verdict
    ? { judgement: unpackVerdict(row, list), failure: null }
    : { judgement: null, failure: unpackFailure(row, list) };
}

function packFailure({ error, attempts, endpoint, moderatedAt }: FailedJudgement, names: Names): FailureRow {
  return [KIND.error, packError(error), attempts, names.placeOrNull(endpoint), names.place(moderatedAt)];
}

function unpackFailure(
  [, error, attempts, endpoint, moderatedAt]: FailureRow,
  list: readonly string[],
): FailedJudgement {
  return {
    error: unpackError(error),
    attempts,
    endpoint: namedOrNull(list, endpoint),
    moderatedAt: when(list, moderatedAt),
  };
}

export function packVerdict(judgement: Judgement, names: Names): VerdictRow {
  const { subcategoryScores: scores, subcategoryFlags, cacheUsage, coverage } = judgement;
  return [
    KIND.verdict,
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

/** Throws when the row names what is not in the list. */
export function unpackVerdict(row: VerdictRow, list: readonly string[]): Judgement {
  const [, score, flagged, scores, flags, fingerprint, endpoint, latencyMs, ...rest] = row;
  const [attempts, cacheUsage, at, unit, judged, total, worst_at] = rest;
  return {
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
  };
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
