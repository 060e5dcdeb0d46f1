import { z } from 'zod';
import { ITEM_CODES, ITEM_ERROR_REASONS, type ItemCode, type ItemErrorReason } from '../domain/item-error.ts';
import { DECISIONS, type Decision, type OutcomeLine } from '../domain/outcome.ts';
import type { Policy } from '../domain/policy.ts';
import { MODALITIES } from '../domain/request.ts';
import { restrictedBy, type Restriction } from '../domain/restriction/restricted.ts';
import {
  CATEGORY_KEYS,
  foreignIn,
  isCategoryKey,
  isForeignCategory,
  MAX_FOREIGN_CATEGORIES,
  OTHER_CATEGORIES,
  type CategoryKey,
} from '../domain/taxonomy.ts';
import { extensionOf, OTHER_FILES } from '../domain/words/file-kinds.ts';
import { CACHE_USAGE_ORDER } from '../guard/tensors/protocol.ts';
import { isOfBatch } from './outcomes/batch-results.ts';
import type { ConversationLine } from './outcomes/conversations.ts';
import { replayDecision } from './outcomes/outcome-line.ts';
import { ConversationTally, type ConversationCounts } from './summary/conversation-counts.ts';
import { streamCounts, type StreamCounts } from './summary/stream-counts.ts';

/** A guard, and one of the models that it judged with. */
interface GuardShare {
  readonly endpoint: string;
  readonly kind: 'embedded' | 'triton' | 'rest' | 'openai' | 'websocket';
  readonly fingerprint: string | null;
  readonly verdicts: number;
}

/** Where reused verdicts come from. */
interface ReusedShare {
  /** Name of the run that judged; null: all runs beyond the first hundred. */
  readonly run: string | null;
  readonly fingerprint: string | null;
  readonly verdicts: number;
}

/** Conversations of more than one turn with one verdict, on the whole of them (`--audit final`). */
export interface WholeConversations {
  readonly conversations: number;
  /** Their turns before the last one, system turns included: none of these has a verdict of its own. */
  readonly earlier_turns: number;
}

export type DecisionCounts = Readonly<Record<Decision, number>>;

/** Sums over the outcomes of a run. */
export interface Counts {
  readonly items: number;
  readonly verdicts: number;
  readonly errors: number;
  /** Verdicts with the decision `review` or `block`. */
  readonly flagged: number;
  /** Verdicts that the guard itself flagged (FLAGGED), whatever the policy decided. */
  readonly guard_flagged: number;
  readonly by_decision: DecisionCounts;
  /** Verdicts by flagged category; one verdict may count in several. */
  readonly by_category: Readonly<Record<string, number>>;
  /** Verdicts that are listed in restricted.csv. */
  readonly restricted: number;
  /** The same by decision. */
  readonly decisions_by_category: Readonly<Record<string, DecisionCounts>>;
  /** Verdicts that were flagged, by the guard or by the decision, without a flagged category: not in `by_category`. */
  readonly without_category: number;
  /** The same by decision. */
  readonly decisions_without_category: DecisionCounts;
  /** Verdicts that the guard flagged without a score or a flag for a category of the taxonomy, by category. */
  readonly category_unknown: Readonly<Partial<Record<CategoryKey, number>>>;
  /** Verdicts with a score in a category of another taxonomy, by its name; absent when there are none. */
  readonly foreign_scored?: Readonly<Record<string, number>> | undefined;
  /** Those of `guard_flagged` with a score or a flag in a category of another taxonomy; absent when there are none. */
  readonly foreign_measured?: Readonly<Record<string, number>> | undefined;
  /** Verdicts on a part of their item only. */
  readonly partial: number;
  readonly judged_as_whole: WholeConversations;
  readonly by_error_code: Readonly<Partial<Record<ItemCode, number>>>;
  /** Errors that have a reason, by reason; absent when there are none. */
  readonly by_error_reason?: Readonly<Partial<Record<ItemErrorReason, number>>>;
  /** Items by modality; `unknown` for content that was not recognised. */
  readonly by_modality: Readonly<Record<string, number>>;
  /** Files of unsupported types, by extension. */
  readonly unsupported_files: Readonly<Record<string, number>>;
  readonly guards: readonly GuardShare[];
  /** Outcomes with a verdict of an earlier run, except copies. */
  readonly reused: number;
  /** The same by run and model, the most verdicts first. */
  readonly reused_from: readonly ReusedShare[];
  /** Outcomes that are those of earlier items with the same content. */
  readonly copies: number;
  /** Verdicts without a score for a category that has a threshold in the policy. */
  readonly thresholds_unapplied: number;
  /** Errors with the reason `ffmpeg_missing`. */
  readonly without_ffmpeg: number;
  /** Errors with the reason `no_text_column`. */
  readonly without_text_column: number;
  /** Errors with the reason `no_generation`; absent when there are none. */
  readonly without_generation?: number;
  /** Absent in a run without generations. */
  readonly streams?: StreamCounts;
  /** Absent in a run without conversations that were judged at every turn. */
  readonly conversations?: ConversationCounts;
}

/** Max extensions counted separately: file names can be anything. */
const MAX_EXTENSIONS = 100;

/** Max runs and models counted separately whose verdicts are reused: a corpus that grows is judged by many runs. */
const MAX_REUSED_FROM = 100;

/** Shares in an outcome line have four decimals. */
const SHARE_STEPS = 10_000;

const some = z.number().positive();
const whole = z.int().min(1);
const byDecision = z.partialRecord(z.enum(DECISIONS), whole);
const byShare = z.record(z.string().regex(/^(?:10000|[1-9]?[0-9]{1,3})$/), whole);
/** By the id of a model (`-`: not known), a space, and the name of a guard or a run. */
const byModel = z.record(z.string().regex(/^\S+ /), whole);

/** What is counted of outcomes, and by what. Keys with no outcome are left out. */
const COUNTED = {
  modality: z.partialRecord(z.enum([...MODALITIES, 'unknown']), whole),
  decision: byDecision,
  code: z.partialRecord(z.enum(ITEM_CODES), whole),
  reason: z.partialRecord(z.enum(ITEM_ERROR_REASONS), whole),
  /** By decision, a space, and the category. */
  category: z.record(z.string().regex(/^(?:allow|review|block) /), whole),
  /** Flagged without a category. */
  uncategorised: byDecision,
  /** Categories without a score or a flag in a flagged verdict. */
  unmeasured: z.partialRecord(z.enum(CATEGORY_KEYS), whole),
  /** Verdicts with a score in a category of another taxonomy. */
  foreign_scored: z.record(z.string(), whole),
  /** Flagged verdicts with a score or a flag in a category of another taxonomy. */
  foreign_measured: z.record(z.string(), whole),
  /** Of unsupported files. */
  extension: z.record(z.string(), whole),
  guard: byModel,
  reused: byModel,
  /** Shares shown, in steps, of the generations that were raised. */
  caution: byShare,
  flag: byShare,
  /** Sums of CACHE_USAGE over turns. */
  cache: z.partialRecord(z.enum(CACHE_USAGE_ORDER), some),
  /** Outcomes with a property. */
  with: z.partialRecord(
    z.enum([
      'waiting',
      'guard_flagged',
      'restricted',
      'partial',
      'threshold_unapplied',
      'generation',
      'turn',
      'cache_usage',
      'batch_part',
    ]),
    whole,
  ),
  /** Conversations judged as a whole, and their turns before the last. */
  whole: z.partialRecord(z.enum(['conversations', 'earlier_turns']), whole),
} as const;

type Dimension = keyof typeof COUNTED;
type Key<D extends Dimension> = keyof z.infer<(typeof COUNTED)[D]> & string;

const DIMENSIONS = Object.keys(COUNTED) as Dimension[];

const count = z.int().min(0);

/** The sums of a shard as its commit line holds them. Sums of shards add up to those of the run. */
export const SHARD_TALLY = z.strictObject({
  items: count,
  errors: count,
  copies: count,
  review: count,
  block: count,
  by: z.strictObject(COUNTED).partial(),
});

export type ShardTally = z.infer<typeof SHARD_TALLY>;

/** The sums that progress needs. */
export interface ShardCounts {
  readonly items: number;
  /** Items that ended in an error, and copies, whose outcome is that of another item. */
  readonly errors: number;
  readonly copies: number;
  /** Verdicts by decision; the rest of `items - errors - copies` is `allow`. */
  readonly review: number;
  readonly block: number;
}

/** What the policy says of a verdict besides the decision in its line. */
export interface Ruling {
  readonly thresholdUnapplied: boolean;
  readonly restrictedBy: Restriction | null;
}

/** The ruling of a policy on an outcome line; null when it does not give the decision that the line holds. */
export function rulingOn(policy: Policy, line: OutcomeLine): Ruling | null {
  const decided = replayDecision(policy, line);
  if (decided === null) return line.decision === null ? NO_RULING : null;
  if (decided.decision !== line.decision || decided.decidedBy !== line.decided_by) return null;
  return {
    thresholdUnapplied: decided.thresholdUnapplied,
    restrictedBy: restrictedBy(policy, line),
  };
}

/** The ruling on an error. */
export const NO_RULING: Ruling = { thresholdUnapplied: false, restrictedBy: null };

/** Adds up outcomes, and the tallies of shards. */
export class Tally {
  #items = 0;
  #errors = 0;
  #copies = 0;
  #review = 0;
  #block = 0;
  readonly #by = new Map<Dimension, Map<string, number>>();
  readonly #conversations = new ConversationTally();

  /** Counts an outcome; with the sign -1, takes it back. */
  add(line: OutcomeLine, ruling: Ruling, sign: 1 | -1 = 1): void {
    this.#items += sign;
    if (line.same_as !== null) this.#copies += sign;
    else if (line.status === 'error') this.#errors += sign;
    else if (line.decision === 'review') this.#review += sign;
    else if (line.decision === 'block') this.#block += sign;
    this.#count('modality', line.modality ?? 'unknown', sign);
    if (line.same_as === null && line.reused_from !== null) {
      this.#count('reused', ofModel(line.fingerprint, line.reused_from), sign);
    }
    if (line.turn !== null) this.#count('with', 'turn', sign);
    if (isOfBatch(line)) this.#count('with', 'batch_part', sign);
    if (line.error !== null) this.#countError(line, line.error, sign);
    if (line.decision !== null) this.#countVerdict(line, line.decision, ruling, sign);
  }

  /** Counts a copy whose outcome is not known yet; with the sign -1, takes it back. */
  addWaiting(line: Pick<OutcomeLine, 'part' | 'source' | 'turn'>, sign: 1 | -1 = 1): void {
    this.#items += sign;
    this.#copies += sign;
    this.#count('with', 'waiting', sign);
    if (line.turn !== null) this.#count('with', 'turn', sign);
    if (isOfBatch(line)) this.#count('with', 'batch_part', sign);
  }

  /** Adds the tally of a shard. */
  merge(tally: ShardTally): void {
    this.#items += tally.items;
    this.#errors += tally.errors;
    this.#copies += tally.copies;
    this.#review += tally.review;
    this.#block += tally.block;
    for (const dimension of DIMENSIONS) {
      const counts: Readonly<Record<string, number | undefined>> | undefined = tally.by[dimension];
      if (counts === undefined) continue;
      for (const key of Object.keys(counts)) this.#count(dimension, key as never, counts[key]!);
    }
  }

  /** Copies whose outcome is not known yet. */
  get waiting(): number {
    return this.#get('with', 'waiting');
  }

  addConversation(conversation: ConversationLine): void {
    this.#conversations.add(conversation);
  }

  shardCounts(): ShardCounts {
    return {
      items: this.#items,
      errors: this.#errors,
      copies: this.#copies,
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

  /** The sums over all outcomes; copies that wait for theirs are not counted. */
  counts(): Counts {
    const decided = this.#decisions('decision');
    const categories = this.#categories();
    const streams = streamCounts(this.#get('with', 'generation'), {
      caution: this.#shares('caution'),
      flag: this.#shares('flag'),
    });
    const usage = this.#get('with', 'cache_usage') === 0 ? null : this.#of('cache');
    const conversations = this.#conversations.counts(usage && Object.fromEntries(usage));
    const errors = sumOf(this.#of('code'));
    const verdicts = sumOf(this.#of('decision'));
    const reasons = this.#ordered('reason', ITEM_ERROR_REASONS);
    const withoutGeneration = this.#get('reason', 'no_generation');
    return {
      items: verdicts + errors,
      verdicts,
      errors,
      flagged: decided.review + decided.block,
      guard_flagged: this.#get('with', 'guard_flagged'),
      by_decision: decided,
      by_category: Object.fromEntries(
        Object.entries(categories).map(([key, by]) => [key, by.allow + by.review + by.block]),
      ),
      decisions_by_category: categories,
      restricted: this.#get('with', 'restricted'),
      without_category: sumOf(this.#of('uncategorised')),
      decisions_without_category: this.#decisions('uncategorised'),
      category_unknown: this.#ordered('unmeasured', CATEGORY_KEYS),
      ...(this.#of('foreign_scored').length > 0 && { foreign_scored: this.#ordered('foreign_scored', []) }),
      ...(this.#of('foreign_measured').length > 0 && {
        foreign_measured: this.#ordered('foreign_measured', []),
      }),
      partial: this.#get('with', 'partial'),
      judged_as_whole: {
        conversations: this.#get('whole', 'conversations'),
        earlier_turns: this.#get('whole', 'earlier_turns'),
      },
      by_error_code: this.#ordered('code', ITEM_CODES),
      ...(Object.keys(reasons).length > 0 && { by_error_reason: reasons }),
      by_modality: this.#ordered('modality', [...MODALITIES, 'unknown']),
      unsupported_files: this.#ordered('extension', []),
      guards: this.#guardShares(),
      reused: sumOf(this.#of('reused')),
      reused_from: this.#reusedShares(),
      copies: this.#copies - this.#get('with', 'waiting'),
      thresholds_unapplied: this.#get('with', 'threshold_unapplied'),
      without_ffmpeg: this.#get('reason', 'ffmpeg_missing'),
      without_text_column: this.#get('reason', 'no_text_column'),
      ...(withoutGeneration > 0 && { without_generation: withoutGeneration }),
      ...(streams && { streams }),
      ...(conversations && { conversations }),
    };
  }

  #countError(line: OutcomeLine, error: NonNullable<OutcomeLine['error']>, sign: number): void {
    this.#count('code', error.code, sign);
    if (error.reason !== undefined) this.#count('reason', error.reason, sign);
    const isKnownCause = error.reason === 'no_text_column' || error.reason === 'no_generation';
    if (!isKnownCause && isUnsupportedFile(line)) {
      this.#count('extension', extensionOf(line.source.path), sign);
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
    const foreign = foreignIn(line.subcategory_scores);
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

  #get<D extends Dimension>(dimension: D, key: Key<D>): number {
    return this.#by.get(dimension)?.get(key) ?? 0;
  }

  /** Counts by key, in the order of the keys. */
  #of(dimension: Dimension): [string, number][] {
    return [...(this.#by.get(dimension) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  #ordered(dimension: Dimension, keys: readonly string[]): Record<string, number> {
    return ordered(new Map(this.#of(dimension)), keys);
  }

  #decisions(dimension: 'decision' | 'uncategorised'): Record<Decision, number> {
    const of = (decision: Decision): number => this.#get(dimension, decision);
    return { allow: of('allow'), review: of('review'), block: of('block') };
  }

  #categories(): Record<string, DecisionCounts> {
    const categories = new Map<string, Record<Decision, number>>();
    for (const [key, verdicts] of this.#of('category')) {
      const [decision, category] = split(key);
      const counts = categories.get(category) ?? { allow: 0, review: 0, block: 0 };
      counts[decision as Decision] = verdicts;
      categories.set(category, counts);
    }
    return ordered(categories, CATEGORY_KEYS);
  }

  #shares(dimension: 'caution' | 'flag'): (readonly [share: number, generations: number])[] {
    return this.#of(dimension)
      .map(([step, generations]) => [Number(step) / SHARE_STEPS, generations] as const)
      .sort(([a], [b]) => a - b);
  }

  /** By endpoint, then by fingerprint. */
  #guardShares(): GuardShare[] {
    const shares = this.#of('guard').map(([key, verdicts]) => {
      const [model, endpoint] = split(key);
      return { endpoint, kind: kindOf(endpoint), fingerprint: model === NO_MODEL ? null : model, verdicts };
    });
    const place = ({ endpoint, fingerprint }: GuardShare): string => `${endpoint} ${fingerprint ?? ''}`;
    return shares.sort((a, b) => (place(a) < place(b) ? -1 : 1));
  }

  #reusedShares(): ReusedShare[] {
    const shares = this.#of('reused').map(([key, verdicts]) => {
      const [model, run] = split(key);
      return { run: run === '' ? null : run, fingerprint: model === NO_MODEL ? null : model, verdicts };
    });
    return shares.sort((a, b) => b.verdicts - a.verdicts || ((a.run ?? '') < (b.run ?? '') ? -1 : 1));
  }
}

const NO_MODEL = '-';

function ofModel(fingerprint: string | null, name: string): string {
  return `${fingerprint ?? NO_MODEL} ${name}`;
}

/** A key at its first space. */
function split(key: string): readonly [string, string] {
  const at = key.indexOf(' ');
  return [key.slice(0, at), key.slice(at + 1)];
}

/** The key to count under: foreign names beyond the first so many are counted together. */
function keyOf(dimension: Dimension, key: string, counts: ReadonlyMap<string, number>, by: number): string {
  const present = counts.get(key);
  if (present !== undefined && present + by >= 0) return key;
  if (dimension === 'extension') return by > 0 && counts.size < MAX_EXTENSIONS ? key : OTHER_FILES;
  if (dimension === 'foreign_scored' || dimension === 'foreign_measured') {
    return by > 0 && counts.size < MAX_FOREIGN_CATEGORIES ? key : OTHER_CATEGORIES;
  }
  if (dimension === 'reused') return by > 0 && counts.size < MAX_REUSED_FROM ? key : ofModel(null, '');
  if (dimension !== 'category') return key;
  const [decision, category] = split(key);
  if (!isUnknown(category)) return key;
  const names = new Set([...counts.keys()].map((other) => split(other)[1]).filter(isUnknown));
  const isRoom = names.has(category) || names.size < MAX_FOREIGN_CATEGORIES;
  return by > 0 && isRoom ? key : `${decision} ${OTHER_CATEGORIES}`;
}

const isUnknown = (category: string): boolean => !isCategoryKey(category) && category !== OTHER_CATEGORIES;

/** Whether an outcome is of a whole file of an unsupported type, rather than of a record in a file. */
function isUnsupportedFile({ source, error }: OutcomeLine): boolean {
  const isKind = error?.code === 'UNSUPPORTED_TYPE' || error?.code === 'UNSUPPORTED_AUDIO_TYPE';
  return isKind && source.row === null;
}

function sumOf(counts: readonly (readonly [string, number])[]): number {
  return counts.reduce((sum, [, by]) => sum + by, 0);
}

/** Counts as an object: `keys` in their order, then the others by name. */
function ordered<T>(counts: ReadonlyMap<string, T>, keys: readonly string[]): Record<string, T> {
  const others = [...counts.keys()].filter((key) => !keys.includes(key)).sort();
  return Object.fromEntries(
    [...keys, ...others].filter((key) => counts.has(key)).map((key) => [key, counts.get(key)!]),
  );
}

function kindOf(endpoint: string): GuardShare['kind'] {
  if (endpoint.startsWith('embedded:')) return 'embedded';
  if (endpoint.startsWith('ws')) return 'websocket';
  if (endpoint.startsWith('openai')) return 'openai';
  return endpoint.startsWith('http') ? 'rest' : 'triton';
}
