import { COVERAGE_UNITS } from '../domain/coverage.ts';
import type { Judgement } from '../domain/outcome.ts';
import { CATEGORY_KEYS, type CategoryKey } from '../domain/taxonomy.ts';
import type { BytesReader } from './bytes-reader.ts';
import { DoesNotFit, type BytesWriter } from './bytes-writer.ts';

/** A judgement without what an entry's key, or the text that the entry names, says. */
export type EncodedJudgement = Omit<Judgement, 'fingerprint' | 'endpoint' | 'stream'>;

/** Bits of the first byte. The two lowest are the unit of the coverage. */
const FLAGGED = 1 << 2;
const HAS_SCORES = 1 << 3;
const HAS_FLAGS = 1 << 4;
const HAS_CACHE_USAGE = 1 << 5;
const HAS_WORST_AT = 1 << 6;
/** Scores are doubles that are no floats. */
const DOUBLES = 1 << 7;

/** Stands for a flag outside the taxonomy, whose name follows. */
const NAMED_FLAG = 255;
const MAX_FLAGS = 255;
const HUNDREDTHS = 100;

/**
 * Writes a judgement: typically 30 bytes, or 90 with subcategory scores. Scores are exact; the latency is kept in
 * hundredths of a millisecond, as outcome lines have it. Throws DoesNotFit for one that an entry cannot hold.
 */
export function writeJudgement(writer: BytesWriter, judgement: EncodedJudgement): void {
  const { score, subcategoryScores, subcategoryFlags, cacheUsage, coverage } = judgement;
  const scores = CATEGORY_KEYS.flatMap((key) => subcategoryScores?.[key] ?? []);
  const doubles = [score, ...scores].some((value) => Math.fround(value) !== value);
  writer.byte(
    COVERAGE_UNITS.indexOf(coverage.unit) |
      (judgement.flagged ? FLAGGED : 0) |
      (subcategoryScores === null ? 0 : HAS_SCORES) |
      (subcategoryFlags === null ? 0 : HAS_FLAGS) |
      (cacheUsage === null ? 0 : HAS_CACHE_USAGE) |
      (coverage.worst_at === null ? 0 : HAS_WORST_AT) |
      (doubles ? DOUBLES : 0),
  );
  const writeScore = (value: number): void => (doubles ? writer.double(value) : writer.float(value));
  writeScore(score);
  writer.number(Math.round(judgement.latencyMs * HUNDREDTHS));
  writer.number(judgement.attempts);
  writer.bits48(timeOf(judgement.moderatedAt));
  writer.number(coverage.judged);
  writer.number(coverage.total);
  if (coverage.worst_at !== null) writer.number(coverage.worst_at);
  if (subcategoryScores !== null) {
    writer.bits16(maskOf(subcategoryScores));
    for (const value of scores) writeScore(value);
  }
  if (subcategoryFlags !== null) writeFlags(writer, subcategoryFlags);
  if (cacheUsage !== null) {
    writer.byte(cacheUsage.length);
    for (const value of cacheUsage) writer.number(value);
  }
}

export function readJudgement(reader: BytesReader): EncodedJudgement {
  const bits = reader.byte();
  const readScore = (): number => ((bits & DOUBLES) === 0 ? reader.float() : reader.double());
  const score = readScore();
  const latencyMs = reader.number() / HUNDREDTHS;
  const attempts = reader.number();
  const moderatedAt = new Date(reader.bits48()).toISOString();
  const judged = reader.number();
  const total = reader.number();
  const worst_at = (bits & HAS_WORST_AT) === 0 ? null : reader.number();
  return {
    score,
    flagged: (bits & FLAGGED) !== 0,
    subcategoryScores: (bits & HAS_SCORES) === 0 ? null : readScores(reader.bits16(), readScore),
    subcategoryFlags: (bits & HAS_FLAGS) === 0 ? null : list(reader.byte(), () => readFlag(reader)),
    latencyMs,
    attempts,
    cacheUsage: (bits & HAS_CACHE_USAGE) === 0 ? null : list(reader.byte(), () => reader.number()),
    moderatedAt,
    coverage: { unit: COVERAGE_UNITS[bits & 3]!, judged, total, worst_at },
  };
}

/** Milliseconds since 1970. Only a time of exactly this form comes back as it was. */
function timeOf(iso: string): number {
  const time = Date.parse(iso);
  if (!(time >= 0) || new Date(time).toISOString() !== iso) throw new DoesNotFit();
  return time;
}

/** The categories that have a score, one bit each. */
function maskOf(scores: Readonly<Partial<Record<CategoryKey, number>>>): number {
  return CATEGORY_KEYS.reduce(
    (mask, key, index) => (scores[key] === undefined ? mask : mask | (1 << index)),
    0,
  );
}

function readScores(mask: number, readScore: () => number): Partial<Record<CategoryKey, number>> {
  const scores: Partial<Record<CategoryKey, number>> = {};
  CATEGORY_KEYS.forEach((key, index) => {
    if ((mask & (1 << index)) !== 0) scores[key] = readScore();
  });
  return scores;
}

function writeFlags(writer: BytesWriter, flags: readonly string[]): void {
  if (flags.length > MAX_FLAGS) throw new DoesNotFit();
  writer.byte(flags.length);
  for (const flag of flags) {
    const index = CATEGORY_KEYS.indexOf(flag as CategoryKey);
    writer.byte(index === -1 ? NAMED_FLAG : index);
    if (index === -1) writer.text(flag);
  }
}

function readFlag(reader: BytesReader): string {
  const index = reader.byte();
  return index === NAMED_FLAG ? reader.text() : CATEGORY_KEYS[index]!;
}

function list<T>(length: number, read: () => T): T[] {
  return Array.from({ length }, read);
}
