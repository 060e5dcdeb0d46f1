import { COVERAGE_UNITS } from '../domain/coverage.ts';
import type { Judgement } from '../domain/outcome.ts';
import { CATEGORY_KEYS, type CategoryKey } from '../domain/taxonomy.ts';

/** Of the mark of a verdict's origin. */
export const ORIGIN_BYTES = 6;
const TIME_BYTES = 6;
const LATENCY_AT = ORIGIN_BYTES + TIME_BYTES;
const MARKS_AT = LATENCY_AT + 4;
const HEAD_BYTES = MARKS_AT + 1;
const NUMBER_BYTES = 4;
const CATEGORIES_BYTES = 2;
const MAX_LATENCY = 2 ** 32 - 1;

const DIGITS = 7;
/** Powers of ten that are exact. */
const POWERS = Array.from({ length: 23 }, (_, places) => 10 ** places);

/** Marks of a verdict: bits 0 and 1 are its unit of coverage. */
const FLAGGED = 1 << 2;
const PARTIAL = 1 << 3;
const WORST_AT = 1 << 4;
const SCORES = 1 << 5;
const FLAGS = 1 << 6;
/** It is stored as JSON, because it has numbers of more digits, or categories that are none of ours. */
const JSON_FORM = 1 << 7;

/**
 * A verdict in little-endian: origin (6 bytes), time (6), latency in hundredths of a millisecond (4), marks (1); then the
 * categories with scores, and the flagged ones, as bits (2 each, if there are any), and as short decimals score, total,
 * judged if that is less, `worst_at` if there is one, and the categories' scores. Null for a verdict from before 1970.
 */
export function encodeVerdict(origin: number, judgement: Judgement): Buffer | null {
  const time = Date.parse(judgement.moderatedAt);
  if (!(time >= 0)) return null;
  const { score, coverage, subcategoryScores: scores, subcategoryFlags: flags } = judgement;
  const { judged, total, worst_at: worstAt } = coverage;
  const scored = CATEGORY_KEYS.filter((key) => scores?.[key] !== undefined);
  const flagged = CATEGORY_KEYS.filter((key) => flags?.includes(key));
  const numbers = [score, total];
  if (judged !== total) numbers.push(judged);
  if (worstAt !== null) numbers.push(worstAt);
  for (const key of scored) numbers.push(scores![key]!);
  const decimals = numbers.map(shortDecimal);
  const isShort =
    !decimals.includes(NaN) &&
    (scores === null || Object.keys(scores).length === scored.length) &&
    (flags === null || flags.join() === flagged.join());
  const text = isShort ? '' : JSON.stringify({ ...judgement, attempts: 0, cacheUsage: null });
  const categories = (scores ? CATEGORIES_BYTES : 0) + (flags ? CATEGORIES_BYTES : 0);
  const bodyBytes = isShort ? categories + NUMBER_BYTES * decimals.length : Buffer.byteLength(text);
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + bodyBytes);
  bytes.writeUIntBE(origin, 0, ORIGIN_BYTES);
  bytes.writeUIntLE(time, ORIGIN_BYTES, TIME_BYTES);
  bytes.writeUInt32LE(Math.min(Math.round(Math.max(judgement.latencyMs, 0) * 100), MAX_LATENCY), LATENCY_AT);
  bytes[MARKS_AT] =
    COVERAGE_UNITS.indexOf(coverage.unit) |
    (judgement.flagged ? FLAGGED : 0) |
    (judged === total ? 0 : PARTIAL) |
    (worstAt === null ? 0 : WORST_AT) |
    (scores ? SCORES : 0) |
    (flags ? FLAGS : 0) |
    (isShort ? 0 : JSON_FORM);
  let at = HEAD_BYTES;
  if (isShort) {
    if (scores) at = bytes.writeUInt16LE(bitsOf(scored), at);
    if (flags) at = bytes.writeUInt16LE(bitsOf(flagged), at);
    for (const decimal of decimals) at = bytes.writeUInt32LE(decimal, at);
  } else bytes.write(text, at);
  return bytes;
}

/** The mark of an origin that bytes begin with; NaN for damaged ones. */
export function originIn(bytes: Buffer): number {
  return bytes.length < ORIGIN_BYTES ? NaN : bytes.readUIntBE(0, ORIGIN_BYTES);
}

/** A verdict that `encodeVerdict` made. It took no attempts: it was found. */
export function decodeVerdict(
  bytes: Buffer,
  { fingerprint, endpoint }: Pick<Judgement, 'fingerprint' | 'endpoint'>,
): Judgement {
  const marks = bytes[MARKS_AT]!;
  let at = HEAD_BYTES;
  if (marks & JSON_FORM)
    return { ...(JSON.parse(bytes.toString('utf8', at)) as Judgement), fingerprint, endpoint };
  const keys = (): readonly CategoryKey[] => {
    const bits = bytes.readUInt16LE((at += CATEGORIES_BYTES) - CATEGORIES_BYTES);
    return CATEGORY_KEYS.filter((_, index) => bits & (1 << index));
  };
  const number = (): number => {
    const decimal = bytes.readUInt32LE((at += NUMBER_BYTES) - NUMBER_BYTES);
    return (decimal >>> 8) / POWERS[decimal & 0xff]!;
  };
  const scored = marks & SCORES ? keys() : null;
  const subcategoryFlags = marks & FLAGS ? keys() : null;
  const score = number();
  const total = number();
  const judged = marks & PARTIAL ? number() : total;
  const worstAt = marks & WORST_AT ? number() : null;
  return {
    score,
    flagged: (marks & FLAGGED) > 0,
    subcategoryScores: scored && Object.fromEntries(scored.map((key) => [key, number()])),
    subcategoryFlags,
    fingerprint,
    endpoint,
    latencyMs: bytes.readUInt32LE(LATENCY_AT) / 100,
    attempts: 0,
    cacheUsage: null,
    moderatedAt: isoTime(bytes.readUIntLE(ORIGIN_BYTES, TIME_BYTES)),
    coverage: { unit: COVERAGE_UNITS[marks & 3]!, judged, total, worst_at: worstAt },
    stream: null,
  };
}

/**
 * Scores are recorded with seven digits: as a number without a point they fit into three bytes, and the places behind the
 * point into the fourth. Dividing gives the same number again. NaN for any other number.
 */
function shortDecimal(number: number): number {
  for (let places = number < 1 ? DIGITS : 0; places < POWERS.length; places++) {
    const digits = Math.round(number * POWERS[places]!);
    if (digits >= 0 && digits < 2 ** 24 && digits / POWERS[places]! === number) return digits * 256 + places;
  }
  return NaN;
}

/** Verdicts of one reply have one time, and are looked for together. */
let last = { ms: 0, iso: new Date(0).toISOString() };

function isoTime(ms: number): string {
  if (ms !== last.ms) last = { ms, iso: new Date(ms).toISOString() };
  return last.iso;
}

function bitsOf(keys: readonly CategoryKey[]): number {
  return keys.reduce((bits, key) => bits | (1 << CATEGORY_KEYS.indexOf(key)), 0);
}
