import { z } from 'zod';
import {
  ITEM_CODES,
  ITEM_ERROR_REASONS,
  mayBeRetryable,
  mayHaveReason,
  transientError,
  type ItemCode,
  type ItemError,
  type ItemErrorReason,
} from '../../domain/item-error.ts';
import {
  oneOf,
  row,
  type Check,
  textAt,
  textAtOrNull,
  type StringTable,
  count,
  flag,
  list,
  notNegative,
  nullOr,
  number,
  only,
  share,
  textUpTo,
  type Checked,
} from './rows.ts';
import { COVERAGE_UNITS } from '../../domain/coverage.ts';
import type { GenerationVerdict } from '../../domain/generation/generation-verdict.ts';
import type { FailedJudgement, Judgement, Outcome } from '../../domain/outcome.ts';
import {
  CATEGORY_COUNT,
  isForeignCategory,
  MAX_FOREIGN_CATEGORIES,
  packScores,
  unpackScores,
} from '../../domain/taxonomy.ts';

/** What an error has besides code and message: nothing (0), the retryable flag (1), or a reason. */
type Mark = 0 | 1 | ItemErrorReason;

const isReason = oneOf(ITEM_ERROR_REASONS);
const isMark: Check<Mark> = (value): value is Mark => value === 0 || value === 1 || isReason(value);

type ErrorRow = readonly [code: ItemCode, message: string, mark: Mark];

/** Checks an error, its message with the given check. */
export function errorRow(message: Check<string>): Check<ErrorRow> {
  const isRow = row(oneOf(ITEM_CODES), message, isMark);
  return (value): value is ErrorRow => {
    if (!isRow(value)) return false;
    const [code, , mark] = value;
    return mark === 0 || (mark === 1 ? mayBeRetryable(code, true) : mayHaveReason(code, mark));
  };
}

export function packError({ code, message, retryable = false, reason }: ItemError): ErrorRow {
  return [code, message, reason ?? (retryable ? 1 : 0)];
}

export function unpackError([code, message, mark]: ErrorRow): ItemError {
  if (mark === 0) return { code, message };
  return mark === 1 ? transientError(code, message) : { code, message, reason: mark };
}

/** Flags per item, and UTF-16 code units per text: more than any guard returns. A log is kept forever, so both are bounded. */
const MAX_FLAGS = 1000;
const MAX_TEXT = 1000;

const listOfFlags = list(textUpTo(MAX_TEXT));

/** See `packScores`; null where a probe did not answer. */
const scores: Check<readonly (number | string | null)[]> = (value): value is (number | string | null)[] =>
  Array.isArray(value) &&
  value.length >= CATEGORY_COUNT &&
  value.length <= CATEGORY_COUNT + 2 * MAX_FOREIGN_CATEGORIES &&
  (value.length - CATEGORY_COUNT) % 2 === 0 &&
  value.every((part: unknown, at) => {
    if (at < CATEGORY_COUNT) return part === null || share(part);
    return (at - CATEGORY_COUNT) % 2 === 1
      ? share(part)
      : typeof part === 'string' && isForeignCategory(part);
  });
const flags: Check<readonly string[]> = (value): value is readonly string[] =>
  listOfFlags(value) && value.length <= MAX_FLAGS;
const index = count;

/** The first column of a row. */
const KIND = { verdict: 0, error: 1 } as const;

export const isVerdictRow = row(
  only(KIND.verdict),
  share, // score
  flag, // flagged
  nullOr(scores),
  nullOr(flags),
  nullOr(index), // fingerprint
  index, // endpoint
  notNegative, // latencyMs
  count, // attempts
  nullOr(list(number)), // cacheUsage
  index, // moderatedAt
  oneOf(COVERAGE_UNITS),
  notNegative, // judged
  notNegative, // total
  nullOr(number), // worst_at
  nullOr(
    row(
      count, // chunks
      count, // judgedChunks
      nullOr(count), // firstCautionSeq
      nullOr(count), // firstFlaggedSeq
      nullOr(share), // shareAtCaution
      nullOr(share), // shareAtFlag
      count, // lagChunks
      notNegative, // lagMs
    ),
  ),
);

const isFailure = row(
  only(KIND.error),
  errorRow(textUpTo(MAX_TEXT)),
  count, // attempts
  nullOr(index), // endpoint
  index, // moderatedAt
);

type VerdictRow = Checked<typeof isVerdictRow>;

type FailureRow = Checked<typeof isFailure>;

type OutcomeRow = VerdictRow | FailureRow;

/**
 * An encoded outcome: without keys, which are two thirds of its JSON, and with repeated texts replaced by their index in
 * the string table.
 */
export const OUTCOME_ROW = z.custom<OutcomeRow>((value) => isVerdictRow(value) || isFailure(value));

export function packOutcome({ judgement, failure }: Outcome, names: StringTable): OutcomeRow {
  return failure === null ? packVerdict(judgement, names) : packFailure(failure, names);
}

/** Throws when an index is not in the list. */
export function unpackOutcome(row: OutcomeRow, list: readonly string[]): Outcome {
  return row[0] === KIND.verdict
    ? { judgement: unpackVerdict(row, list), failure: null }
    : { judgement: null, failure: unpackFailure(row, list) };
}

function packFailure(
  { error, attempts, endpoint, moderatedAt }: FailedJudgement,
  names: StringTable,
): FailureRow {
  return [KIND.error, packError(error), attempts, names.indexOrNull(endpoint), names.index(moderatedAt)];
}

function unpackFailure(
  [, error, attempts, endpoint, moderatedAt]: FailureRow,
  list: readonly string[],
): FailedJudgement {
  return {
    error: unpackError(error),
    attempts,
    endpoint: textAtOrNull(list, endpoint),
    moderatedAt: when(list, moderatedAt),
  };
}

export function packVerdict(judgement: Judgement, names: StringTable): VerdictRow {
  const { subcategoryScores: scores, subcategoryFlags, cacheUsage, coverage, stream } = judgement;
  return [
    KIND.verdict,
    judgement.score,
    judgement.flagged,
    scores && packScores(scores),
    subcategoryFlags,
    names.indexOrNull(judgement.fingerprint),
    names.index(judgement.endpoint),
    judgement.latencyMs,
    judgement.attempts,
    cacheUsage,
    names.index(judgement.moderatedAt),
    coverage.unit,
    coverage.judged,
    coverage.total,
    coverage.worst_at,
    stream && packStream(stream),
  ];
}

/** Throws when an index is not in the list. */
export function unpackVerdict(row: VerdictRow, list: readonly string[]): Judgement {
  const [, score, flagged, scores, flags, fingerprint, endpoint, latencyMs, ...rest] = row;
  const [attempts, cacheUsage, at, unit, judged, total, worst_at, stream] = rest;
  return {
    score,
    flagged,
    subcategoryScores: scores && unpackScores(scores),
    subcategoryFlags: flags,
    fingerprint: textAtOrNull(list, fingerprint),
    endpoint: textAt(list, endpoint),
    latencyMs,
    attempts,
    cacheUsage,
    moderatedAt: when(list, at),
    coverage: { unit, judged, total, worst_at },
    stream: stream && unpackStream(stream),
  };
}

type StreamColumns = NonNullable<VerdictRow[15]>;

function packStream(stream: GenerationVerdict): StreamColumns {
  const { chunks, judgedChunks, firstCautionSeq, firstFlaggedSeq } = stream;
  const { shareAtCaution, shareAtFlag, lagChunks, lagMs } = stream;
  return [
    ...([chunks, judgedChunks, firstCautionSeq, firstFlaggedSeq] as const),
    ...([shareAtCaution, shareAtFlag, lagChunks, lagMs] as const),
  ];
}

function unpackStream(columns: StreamColumns): GenerationVerdict {
  const [chunks, judgedChunks, firstCautionSeq, firstFlaggedSeq, ...rest] = columns;
  const [shareAtCaution, shareAtFlag, lagChunks, lagMs] = rest;
  return {
    ...{ chunks, judgedChunks, firstCautionSeq, firstFlaggedSeq },
    ...{ shareAtCaution, shareAtFlag, lagChunks, lagMs },
  };
}

/** ISO 8601, UTC, milliseconds. */
const WHEN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

function when(list: readonly string[], index: number): string {
  const text = textAt(list, index);
  if (!WHEN.test(text)) throw new Error('an outcome has no valid timestamp');
  return text;
}
