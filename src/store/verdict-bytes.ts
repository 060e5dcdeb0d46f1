import { COVERAGE_UNITS } from '../domain/coverage.ts';
import type { Judgement } from '../domain/outcome.ts';
import { CATEGORY_KEYS, type CategoryKey } from '../domain/taxonomy.ts';

/** Size of the mark of a verdict's origin. */
export const ORIGIN_BYTES = 6;
const TIME_BYTES = 6;
const LATENCY_AT = ORIGIN_BYTES + TIME_BYTES;
const MARKS_AT = LATENCY_AT + 4;
const HEAD_BYTES = MARKS_AT + 1;
const NUMBER_BYTES = 4;
const CATEGORIES_BYTES = 2;
const MAX_LATENCY = 2 ** 32 - 1;

const INDEX: ReadonlyMap<string, number> = new Map(CATEGORY_KEYS.map((key, index) => [key, index]));
const ALL_CATEGORIES = 2 ** CATEGORY_KEYS.length - 1;
/** Bit for categories that are not in the taxonomy. */
const OTHERS = ALL_CATEGORIES + 1;

/** Buffer in which verdicts are encoded, as long as the longest short form: four numbers, and the scores. */
const short = Buffer.alloc(HEAD_BYTES + 2 * CATEGORIES_BYTES + NUMBER_BYTES * (4 + CATEGORY_KEYS.length));

const DIGITS = 7;
/** Powers of ten that are exact as doubles. */
const POWERS = Array.from({ length: 23 }, (_, places) => 10 ** places);

/** Flags of a verdict; bits 0 and 1 are its unit of coverage. */
const FLAGGED = 1 << 2;
const PARTIAL = 1 << 3;
const WORST_AT = 1 << 4;
const SCORES = 1 << 5;
const FLAGS = 1 << 6;
/** The verdict is stored as JSON, because it has numbers with more digits, or categories that are not ours. */
const JSON_FORM = 1 << 7;

/**
 * Encodes a verdict in little-endian: origin (6 bytes), time (6), latency in hundredths of a millisecond (4), flags
 * (1); then the categories with scores, and the flagged ones, as bits (2 bytes each, if there are any); then, as short
 * decimals, score, total, judged if that is less, `worst_at` if there is one, and the categories' scores. Null for a
 * verdict from before 1970.
 */
export function encodeVerdict(origin: number, judgement: Judgement): Buffer | null {
  const time = timeOf(judgement.moderatedAt);
  if (!(time >= 0)) return null;
  const { score, coverage, subcategoryScores: scores, subcategoryFlags: flags } = judgement;
  const { judged, total, worst_at: worstAt } = coverage;
  const marks =
    COVERAGE_UNITS.indexOf(coverage.unit) |
    (judgement.flagged ? FLAGGED : 0) |
    (judged === total ? 0 : PARTIAL) |
    (worstAt === null ? 0 : WORST_AT) |
    (scores ? SCORES : 0) |
    (flags ? FLAGS : 0);
  const scored = scores && scoredBits(scores);
  const flagged = flags && flaggedBits(flags);
  let at = HEAD_BYTES;
  if (scored !== null) at = short.writeUInt16LE(scored & ALL_CATEGORIES, at);
  if (flagged !== null) at = short.writeUInt16LE(flagged & ALL_CATEGORIES, at);
  let isShort = scored !== OTHERS && flagged !== OTHERS;
  const put = (number: number): void => {
    const decimal = shortDecimal(number);
    if (decimal < 0) isShort = false;
    else at = short.writeUInt32LE(decimal, at);
  };
  put(score);
  put(total);
  if (judged !== total) put(judged);
  if (worstAt !== null) put(worstAt);
  if (scores) for (const key of CATEGORY_KEYS) if (scores[key] !== undefined) put(scores[key]);
  const bytes = isShort
    ? Buffer.from(short.subarray(0, at))
    : Buffer.concat([
        short.subarray(0, HEAD_BYTES),
        Buffer.from(JSON.stringify({ ...judgement, attempts: 0, cacheUsage: null })),
      ]);
  bytes.writeUIntBE(origin, 0, ORIGIN_BYTES);
  bytes.writeUIntLE(time, ORIGIN_BYTES, TIME_BYTES);
  bytes.writeUInt32LE(Math.min(Math.round(Math.max(judgement.latencyMs, 0) * 100), MAX_LATENCY), LATENCY_AT);
  bytes[MARKS_AT] = marks | (isShort ? 0 : JSON_FORM);
  return bytes;
}

/** The origin mark at the start of the bytes; NaN for damaged ones. */
export function originIn(bytes: Buffer): number {
  return bytes.length < ORIGIN_BYTES ? NaN : bytes.readUIntBE(0, ORIGIN_BYTES);
}

/** Decodes the bytes of `encodeVerdict`. The verdict took no attempts: it was found. */
export function decodeVerdict(
  bytes: Buffer,
  { fingerprint, endpoint }: Pick<Judgement, 'fingerprint' | 'endpoint'>,
): Judgement {
  const marks = bytes[MARKS_AT]!;
  let at = HEAD_BYTES;
  if (marks & JSON_FORM)
    return { ...(JSON.parse(bytes.toString('utf8', at)) as Judgement), fingerprint, endpoint };
  const bitsFound = (): number => bytes.readUInt16LE((at += CATEGORIES_BYTES) - CATEGORIES_BYTES);
  const number = (): number => {
    const decimal = bytes.readUInt32LE((at += NUMBER_BYTES) - NUMBER_BYTES);
    return (decimal >>> 8) / POWERS[decimal & 0xff]!;
  };
  const scored = marks & SCORES ? bitsFound() : null;
  const flagged = marks & FLAGS ? bitsFound() : null;
  const score = number();
  const total = number();
  const judged = marks & PARTIAL ? number() : total;
  const worstAt = marks & WORST_AT ? number() : null;
  const subcategoryScores: Partial<Record<CategoryKey, number>> = {};
  const subcategoryFlags: CategoryKey[] = [];
  for (let index = 0; index < CATEGORY_KEYS.length; index++) {
    const key = CATEGORY_KEYS[index]!;
    if (scored !== null && scored & (1 << index)) subcategoryScores[key] = number();
    if (flagged !== null && flagged & (1 << index)) subcategoryFlags.push(key);
  }
  return {
    score,
    flagged: (marks & FLAGGED) > 0,
    subcategoryScores: scored === null ? null : subcategoryScores,
    subcategoryFlags: flagged === null ? null : subcategoryFlags,
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
 * Encodes scores, which are recorded with seven digits: the digits as an integer fit into three bytes, and the number
 * of decimal places into the fourth. Dividing restores the same number. -1 for any other number.
 */
function shortDecimal(number: number): number {
  for (let places = number < 1 ? DIGITS : 0; places < POWERS.length; places++) {
    const digits = Math.round(number * POWERS[places]!);
    if (digits >= 0 && digits < 2 ** 24 && digits / POWERS[places]! === number) return digits * 256 + places;
  }
  return -1;
}

/** The verdicts of one reply have the same time, and are stored and looked up together. */
let lastFound = { ms: 0, iso: new Date(0).toISOString() };
let lastStored = lastFound;

function isoTime(ms: number): string {
  if (ms !== lastFound.ms) lastFound = { ms, iso: new Date(ms).toISOString() };
  return lastFound.iso;
}

/** Milliseconds of an ISO time; NaN for anything else. */
function timeOf(iso: string): number {
  if (iso !== lastStored.iso) lastStored = { ms: Date.parse(iso), iso };
  return lastStored.ms;
}

/** The categories with a score as bits; OTHERS if one is not ours. */
function scoredBits(scores: NonNullable<Judgement['subcategoryScores']>): number {
  let bits = 0;
  for (const key in scores) {
    const index = INDEX.get(key);
    if (index === undefined || scores[CATEGORY_KEYS[index]!] === undefined) return OTHERS;
    bits |= 1 << index;
  }
  return bits;
}

/** Flags as bits; OTHERS unless they are ours, unique and in taxonomy order. */
function flaggedBits(flags: readonly string[]): number {
  let bits = 0;
  for (const key of flags) {
    const index = INDEX.get(key);
    if (index === undefined || bits >= 1 << index) return OTHERS;
    bits |= 1 << index;
  }
  return bits;
}
