import { z } from 'zod';
import { ITEM_CODES } from '../../domain/item-error.ts';
import type { Outcome } from '../../domain/outcome.ts';
import { CATEGORY_KEYS, type CategoryKey } from '../../domain/taxonomy.ts';
import { named, namedOrNull, type Names } from './names.ts';

const count = z.int().min(0);
const place = count;

/** By index of the taxonomy; null where a probe did not answer. One loop, since a parser a number takes ten times as long. */
const SCORES = z.custom<readonly (number | null)[]>(
  (value) =>
    Array.isArray(value) &&
    value.length === CATEGORY_KEYS.length &&
    value.every((score) => score === null || typeof score === 'number'),
);

const JUDGED = z.tuple([
  z.number(), // score
  z.boolean(), // flagged
  SCORES.nullable(),
  z.array(z.string()).nullable(), // flags
  place.nullable(), // fingerprint
  place, // endpoint
  z.number(), // latencyMs
  count, // attempts
  z.array(z.number()).nullable(), // cacheUsage
  place, // moderatedAt
  z.enum(['chars', 'turns', 'frames', 'seconds']),
  z.number(), // judged
  z.number(), // total
  z.number().nullable(), // worst_at
]);

const FAILED = z.tuple([
  z.enum(ITEM_CODES),
  z.string(), // message
  count, // attempts
  place.nullable(), // endpoint
  place, // moderatedAt
]);

/**
 * An outcome as it travels: without the keys, which are two thirds of its JSON, and with what it shares with its
 * neighbours named.
 */
export const OUTCOME_ROW = z.union([JUDGED, FAILED]);

type OutcomeRow = z.output<typeof OUTCOME_ROW>;

export function packOutcome({ judgement, failure }: Outcome, names: Names): OutcomeRow {
  if (failure !== null) {
    const { error, attempts, endpoint, moderatedAt } = failure;
    return [error.code, error.message, attempts, names.placeOrNull(endpoint), names.place(moderatedAt)];
  }
  const { subcategoryScores: scores, subcategoryFlags, cacheUsage, coverage } = judgement;
  return [
    judgement.score,
    judgement.flagged,
    scores === null ? null : CATEGORY_KEYS.map((key) => scores[key] ?? null),
    subcategoryFlags === null ? null : [...subcategoryFlags],
    names.placeOrNull(judgement.fingerprint),
    names.place(judgement.endpoint),
    judgement.latencyMs,
    judgement.attempts,
    cacheUsage === null ? null : [...cacheUsage],
    names.place(judgement.moderatedAt),
    coverage.unit,
    coverage.judged,
    coverage.total,
    coverage.worst_at,
  ];
}

/** Throws when it names what is not in the list. */
export function unpackOutcome(row: OutcomeRow, list: readonly string[]): Outcome {
  if (row.length === 5) {
    const [code, message, attempts, endpoint, moderatedAt] = row;
    return {
      judgement: null,
      failure: {
        error: { code, message },
        attempts,
        endpoint: namedOrNull(list, endpoint),
        moderatedAt: named(list, moderatedAt),
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
      moderatedAt: named(list, at),
      coverage: { unit, judged, total, worst_at },
    },
    failure: null,
  };
}

function byKey(scores: readonly (number | null)[]): Partial<Record<CategoryKey, number>> {
  const keyed: Partial<Record<CategoryKey, number>> = {};
  for (const [index, key] of CATEGORY_KEYS.entries()) {
    const score = scores[index];
    if (typeof score === 'number') keyed[key] = score;
  }
  return keyed;
}
