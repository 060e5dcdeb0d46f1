import type { Decision, OutcomeLine } from '../domain/outcome.ts';
import type { Policy } from '../domain/policy.ts';
import { findRestriction, type Restriction } from '../domain/restriction/restriction.ts';
import {
  CATEGORY_KEYS,
  listForeignCategories,
  isCategoryKey,
  isForeignCategory,
  MAX_FOREIGN_CATEGORIES,
  OTHER_CATEGORIES,
} from '../domain/taxonomy.ts';
import { fileExtension, OTHER_FILES } from '../domain/words/file-kinds.ts';
import { CACHE_USAGE_ORDER } from '../guard/tensors/protocol.ts';
import { countsOf, type Counts } from './counts.ts';
import { isOfBatch } from './outcomes/batch-results.ts';
import { replayDecision } from './outcomes/outcome-line.ts';
import {
  DIMENSIONS,
  ofModel,
  SHARE_STEPS,
  splitKey,
  type Dimension,
  type Key,
  type ShardCounts,
  type ShardTally,
} from './shard-tally.ts';

/** Max extensions counted separately: file names can be anything. */
const MAX_EXTENSIONS = 100;

/** Max runs and models counted separately as origins of reused verdicts: a growing corpus is judged by many runs. */
const MAX_REUSED_FROM = 100;

/** The policy's findings on a verdict, apart from the decision in its line. */
export interface Ruling {
  readonly thresholdUnapplied: boolean;
  readonly restrictedBy: Restriction | null;
}

/** The ruling of a policy on an outcome line; null when its decision differs from the one in the line. */
export function rulingOn(policy: Policy, line: OutcomeLine): Ruling | null {
  const decided = replayDecision(policy, line);
  if (decided === null) return line.decision === null ? NO_RULING : null;
  if (decided.decision !== line.decision || decided.decidedBy !== line.decided_by) return null;
  return {
    thresholdUnapplied: decided.thresholdUnapplied,
    restrictedBy: findRestriction(policy, line),
  };
}

/** The ruling on an error. */
export const NO_RULING: Ruling = { thresholdUnapplied: false, restrictedBy: null };

/** Adds up outcomes and the tallies of shards. */
export class Tally {
  #items = 0;
  #errors = 0;
  #review = 0;
  #block = 0;
  readonly #by = new Map<Dimension, Map<string, number>>();

  /** Counts an outcome; with the sign -1, takes it back. */
  add(line: OutcomeLine, ruling: Ruling, sign: 1 | -1 = 1): void {
    this.#items += sign;
    if (line.status === 'error') this.#errors += sign;
    else if (line.decision === 'review') this.#review += sign;
    else if (line.decision === 'block') this.#block += sign;
    this.#count('modality', line.modality ?? 'unknown', sign);
    if (line.reused_from !== null) {
      this.#count('reused', ofModel(line.fingerprint, line.reused_from), sign);
    }
    if (isOfBatch(line)) this.#count('with', 'batch_part', sign);
    if (line.error !== null) this.#countError(line, line.error, sign);
    if (line.decision !== null) this.#countVerdict(line, line.decision, ruling, sign);
  }

  /** Adds the tally of a shard. */
  merge(tally: ShardTally): void {
    this.#items += tally.items;
    this.#errors += tally.errors;
    this.#review += tally.review;
    this.#block += tally.block;
    for (const dimension of DIMENSIONS) {
      const counts: Readonly<Record<string, number | undefined>> | undefined = tally.by[dimension];
      if (counts === undefined) continue;
      for (const key of Object.keys(counts)) this.#count(dimension, key as never, counts[key]!);
    }
  }

  shardCounts(): ShardCounts {
    return {
      items: this.#items,
      errors: this.#errors,
      review: this.#review,
      block: this.#block,
    };
  }

  /** The sums for a commit line. Equal sums always give the same JSON. */
  shardTally(): ShardTally {
    const by = DIMENSIONS.map((dimension) => [dimension, this.#of(dimension)] as const)
      .filter(([, counts]) => counts.length > 0)
      .map(([dimension, counts]) => [dimension, Object.fromEntries(counts)] as const);
    return { ...this.shardCounts(), by: Object.fromEntries(by) };
  }

  /** The sums over all outcomes. */
  counts(): Counts {
    return countsOf(this.shardTally());
  }

  #countError(line: OutcomeLine, error: NonNullable<OutcomeLine['error']>, sign: number): void {
    this.#count('code', error.code, sign);
    if (error.reason !== undefined) this.#count('reason', error.reason, sign);
    if (line.source.row === null) this.#count('with', 'whole_file_not_judged', sign);
    const isKnownCause = error.reason === 'no_text_column' || error.reason === 'no_generation';
    if (!isKnownCause && isUnsupportedFile(line)) {
      this.#count('extension', fileExtension(line.part ?? line.source.path), sign);
    }
  }

  #countVerdict(line: OutcomeLine, decision: Decision, ruling: Ruling, sign: number): void {
    const { flagged, coverage, turn, stream } = line;
    const flags = line.subcategory_flags ?? [];
    this.#count('decision', decision, sign);
    for (const key of flags) this.#count('category', `${decision} ${key}`, sign);
    if (flags.length === 0 && (flagged === true || decision !== 'allow')) {
      this.#count('uncategorised', decision, sign);
    }
    const foreign = listForeignCategories(line.subcategory_scores);
    for (const name of foreign) this.#count('foreign_scored', name, sign);
    if (flagged === true) {
      this.#count('with', 'guard_flagged', sign);
      for (const name of new Set([...foreign, ...flags.filter(isForeignCategory)])) {
        this.#count('foreign_measured', name, sign);
      }
      for (const key of CATEGORY_KEYS) {
        const isMeasured = line.subcategory_scores?.[key] !== undefined || flags.includes(key);
        if (!isMeasured) this.#count('unmeasured', key, sign);
      }
    }
    if (ruling.restrictedBy !== null) this.#count('with', 'restricted', sign);
    if (ruling.thresholdUnapplied) this.#count('with', 'threshold_unapplied', sign);
    if (coverage !== null && coverage.judged < coverage.total) this.#count('with', 'partial', sign);
    if (line.request_type === 'multiturn' && turn === null && coverage !== null && coverage.total > 1) {
      this.#count('whole', 'conversations', sign);
      this.#count('whole', 'earlier_turns', (coverage.total - 1) * sign);
    }
    if (line.endpoint !== null) this.#count('guard', ofModel(line.fingerprint, line.endpoint), sign);
    if (stream !== null) {
      this.#count('with', 'generation', sign);
      this.#countShare('caution', stream.shown_share_at_caution, sign);
      this.#countShare('flag', stream.shown_share_at_flag, sign);
    }
    if (turn === null || line.cache_usage === null) return;
    this.#count('with', 'cache_usage', sign);
    for (const [index, key] of CACHE_USAGE_ORDER.entries()) {
      this.#count('cache', key, Math.max(0, line.cache_usage[index] ?? 0) * sign);
    }
  }

  #countShare(dimension: 'caution' | 'flag', share: number | null, sign: number): void {
    if (share !== null) this.#count(dimension, String(Math.round(share * SHARE_STEPS)), sign);
  }

  #count<D extends Dimension>(dimension: D, key: Key<D>, by: number): void {
    if (by === 0) return;
    let counts = this.#by.get(dimension);
    if (counts === undefined) this.#by.set(dimension, (counts = new Map<string, number>()));
    const name = keyOf(dimension, key, counts, by);
    const sum = (counts.get(name) ?? 0) + by;
    if (sum === 0) counts.delete(name);
    else counts.set(name, sum);
  }

  /** Counts by key, in the order of the keys. */
  #of(dimension: Dimension): [string, number][] {
    return [...(this.#by.get(dimension) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
  }
}

/** The key to count under: untrusted names beyond a maximum are counted together. */
function keyOf(dimension: Dimension, key: string, counts: ReadonlyMap<string, number>, by: number): string {
  const present = counts.get(key);
  if (present !== undefined && present + by >= 0) return key;
  if (dimension === 'extension') return by > 0 && counts.size < MAX_EXTENSIONS ? key : OTHER_FILES;
  if (dimension === 'foreign_scored' || dimension === 'foreign_measured') {
    return by > 0 && counts.size < MAX_FOREIGN_CATEGORIES ? key : OTHER_CATEGORIES;
  }
  if (dimension === 'reused') return by > 0 && counts.size < MAX_REUSED_FROM ? key : ofModel(null, '');
  if (dimension !== 'category') return key;
  const [decision, category] = splitKey(key);
  if (!isUnknown(category)) return key;
  const names = new Set([...counts.keys()].map((other) => splitKey(other)[1]).filter(isUnknown));
  const isRoom = names.has(category) || names.size < MAX_FOREIGN_CATEGORIES;
  return by > 0 && isRoom ? key : `${decision} ${OTHER_CATEGORIES}`;
}

const isUnknown = (category: string): boolean => !isCategoryKey(category) && category !== OTHER_CATEGORIES;

/** Whether an outcome is for a whole file of an unsupported type, rather than for a record in a file. */
function isUnsupportedFile({ source, error }: OutcomeLine): boolean {
  const isKind = error?.code === 'UNSUPPORTED_TYPE' || error?.code === 'UNSUPPORTED_AUDIO_TYPE';
  return isKind && (source.row === null || error.reason === 'file_type');
}
