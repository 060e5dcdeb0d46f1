import { ITEM_CODES } from '../../domain/item-error.ts';
import { DECISIONS, type Decision, type OutcomeLine } from '../../domain/outcome.ts';
import { MODALITIES, REQUEST_TYPES } from '../../domain/request.ts';
import { CATEGORY_KEYS, isCategoryKey, OTHER_CATEGORIES } from '../../domain/taxonomy.ts';

/**
 * An outcome as a diff compares it, in 56 bytes: content hash (32), kind (1); decision or error (1), error code (1), flagged
 * (1), flagged categories as bits (2), fingerprint (2), score as a double (8); offset of the line as a double (8).
 */
export const ENTRY_BYTES = 56;

const KIND_AT = 32;
const RESULT_AT = 33;
const CODE_AT = 34;
const FLAGGED_AT = 35;
const CATEGORIES_AT = 36;
const FINGERPRINT_AT = 38;
const SCORE_AT = 40;
const OFFSET_AT = 48;

/** What an item came to. */
export type Result = Decision | 'error';

export const RESULTS: readonly Result[] = [...DECISIONS, 'error'];

/** Categories that an entry tells apart; the last stands for all that are not in the taxonomy. */
export const ENTRY_CATEGORIES: readonly string[] = [...CATEGORY_KEYS, OTHER_CATEGORIES];

/** Max fingerprints that are told apart. */
const MAX_FINGERPRINTS = 0xffff;

/** Numbers fingerprint ids, over both runs of a diff. */
export class FingerprintNumbers {
  readonly #ids: (string | null)[] = [null];
  readonly #numbers = new Map<string | null, number>([[null, 0]]);

  /** Further ones than can be told apart count as the last. */
  numberOf(id: string | null): number {
    const known = this.#numbers.get(id);
    if (known !== undefined) return known;
    if (this.#ids.length > MAX_FINGERPRINTS) return MAX_FINGERPRINTS;
    this.#numbers.set(id, this.#ids.length);
    return this.#ids.push(id) - 1;
  }

  idOf(number: number): string | null {
    return this.#ids[number]!;
  }
}

/** Writes the entry of a line into `entry`; false for an item without content. */
export function writeEntry(
  entry: Buffer,
  line: OutcomeLine,
  offset: number,
  fingerprints: FingerprintNumbers,
): boolean {
  if (line.content_sha256 === null) return false;
  entry.write(line.content_sha256, 0, 'hex');
  const kind =
    REQUEST_TYPES.indexOf(line.request_type!) * MODALITIES.length + MODALITIES.indexOf(line.modality!);
  entry[KIND_AT] = kind;
  entry[RESULT_AT] = RESULTS.indexOf(line.decision ?? 'error');
  entry[CODE_AT] = line.error === null ? 0xff : ITEM_CODES.indexOf(line.error.code);
  entry[FLAGGED_AT] = line.flagged === true ? 1 : 0;
  entry.writeUInt16LE(categoryBits(line.subcategory_flags), CATEGORIES_AT);
  entry.writeUInt16LE(fingerprints.numberOf(line.fingerprint), FINGERPRINT_AT);
  entry.writeDoubleLE(line.score ?? 0, SCORE_AT);
  entry.writeDoubleLE(offset, OFFSET_AT);
  return true;
}

function categoryBits(flags: readonly string[] | null): number {
  let bits = 0;
  for (const flag of flags ?? []) {
    bits |= 1 << ENTRY_CATEGORIES.indexOf(isCategoryKey(flag) ? flag : OTHER_CATEGORIES);
  }
  return bits;
}

/** The outcome of equal entries for one content. */
export interface Outcome {
  readonly result: Result;
  /** Index of the error code; 255 for a verdict. */
  readonly code: number;
  readonly flagged: boolean;
  /** Flagged categories, by their index in `ENTRY_CATEGORIES`. */
  readonly categories: number;
  readonly fingerprint: number;
  /** 0 for an error. */
  readonly score: number;
  /** Where the first of their lines begins, in bytes. */
  readonly offset: number;
  /** How many items are left that are not paired. */
  left: number;
}

/** The part of an entry that says which content it is about. */
export function contentKey(entries: Buffer, at: number): string {
  return entries.toString('latin1', at, at + RESULT_AT);
}

/** The part of an entry that is equal for items of equal content and outcome. */
export function outcomeKey(entries: Buffer, at: number): string {
  return entries.toString('latin1', at, at + OFFSET_AT);
}

export function readOutcome(entries: Buffer, at: number): Outcome {
  return {
    result: RESULTS[entries[at + RESULT_AT]!]!,
    code: entries[at + CODE_AT]!,
    flagged: entries[at + FLAGGED_AT] === 1,
    categories: entries.readUInt16LE(at + CATEGORIES_AT),
    fingerprint: entries.readUInt16LE(at + FINGERPRINT_AT),
    score: entries.readDoubleLE(at + SCORE_AT),
    offset: entries.readDoubleLE(at + OFFSET_AT),
    left: 1,
  };
}

/** Equal for outcomes that say the same, whichever model said it. */
export function sayingOf({ result, code, flagged, categories, score }: Outcome): string {
  return `${result} ${code} ${flagged} ${categories} ${score}`;
}
