import { ITEM_CODES, ITEM_ERROR_REASONS, type ItemCode, type ItemErrorReason } from '../domain/item-error.ts';
import type { Decision, OutcomeLine } from '../domain/outcome.ts';
import type { Policy } from '../domain/policy.ts';
import { restrictedBy } from '../domain/restriction/restricted.ts';
import { MODALITIES } from '../domain/request.ts';
import { CATEGORY_KEYS, isCategoryKey, OTHER_CATEGORIES, type CategoryKey } from '../domain/taxonomy.ts';
import type { ConversationLine } from './outcomes/conversations.ts';
import { ConversationTally, type ConversationCounts } from './summary/conversation-counts.ts';
import { StreamTally, type StreamCounts } from './summary/stream-counts.ts';
import { extensionOf, OTHER_FILES } from '../domain/words/file-kinds.ts';
import { replayDecision } from './outcomes/outcome-line.ts';

/** A guard, and one of the models that it judged with. */
interface GuardShare {
  readonly endpoint: string;
  readonly kind: 'embedded' | 'triton' | 'rest' | 'websocket';
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

/** Max categories outside the taxonomy counted separately: a guard may flag any name. */
const MAX_UNKNOWN_CATEGORIES = 20;

/** Adds up outcomes. */
export class Tally {
  readonly #policy: Policy;
  #items = 0;
  #errors = 0;
  #reused = 0;
  #guardFlagged = 0;
  #restricted = 0;
  #partial = 0;
  #wholeConversations = 0;
  #earlierTurns = 0;
  readonly #categoryUnknown = new Map<string, number>();
  #copies = 0;
  #thresholdsUnapplied = 0;
  #withoutFfmpeg = 0;
  #withoutTextColumn = 0;
  #withoutGeneration = 0;
  readonly #streams = new StreamTally();
  readonly #conversations = new ConversationTally();
  #unknownCategories = 0;
  readonly #decisions = noDecisions();
  readonly #withoutCategory = noDecisions();
  readonly #categories = new Map<string, Record<Decision, number>>();
  readonly #codes = new Map<string, number>();
  readonly #reasons = new Map<string, number>();
  readonly #modalities = new Map<string, number>();
  readonly #unsupportedFiles = new Map<string, number>();
  /** Verdicts by endpoint and fingerprint. */
  readonly #guards = new Map<string, Map<string | null, number>>();
  /** By run and fingerprint, as JSON. */
  readonly #reusedFrom = new Map<string, number>();

  constructor(policy: Policy) {
    this.#policy = policy;
  }

  /** Counts an outcome; returns whether its decision matches the policy. */
  add(line: OutcomeLine): boolean {
    this.#items++;
    increment(this.#modalities, line.modality ?? 'unknown');
    if (line.same_as !== null) this.#copies++;
    else if (line.reused_from !== null) this.#countReused(line.reused_from, line.fingerprint);
    if (line.error !== null) {
      this.#errors++;
      increment(this.#codes, line.error.code);
      if (line.error.reason !== undefined) increment(this.#reasons, line.error.reason);
      if (line.error.reason === 'no_text_column') this.#withoutTextColumn++;
      else if (line.error.reason === 'no_generation') this.#withoutGeneration++;
      else if (isUnsupportedFile(line)) this.#countExtension(extensionOf(line.source.path));
      if (line.error.reason === 'ffmpeg_missing') this.#withoutFfmpeg++;
    }
    const decided = replayDecision(this.#policy, line);
    if (decided === null || line.decision === null) return decided === null && line.decision === null;
    this.#decisions[line.decision]++;
    for (const key of line.subcategory_flags ?? []) this.#countCategory(key, line.decision);
    this.#countFlags(line, line.decision);
    if (restrictedBy(this.#policy, line) !== null) this.#restricted++;
    this.#countCoverage(line);
    if (line.endpoint !== null) this.#countGuard(line.endpoint, line.fingerprint);
    if (line.stream) this.#streams.add(line.stream);
    if (line.turn && line.cache_usage !== null) this.#conversations.addUsage(line.cache_usage);
    if (decided.thresholdUnapplied) this.#thresholdsUnapplied++;
    return decided.decision === line.decision && decided.decidedBy === line.decided_by;
  }

  addConversation(conversation: ConversationLine): void {
    this.#conversations.add(conversation);
  }

  counts(): Counts {
    const decided = this.#decisions;
    const categories = ordered(this.#categories, CATEGORY_KEYS);
    const streams = this.#streams.counts();
    const conversations = this.#conversations.counts();
    return {
      items: this.#items,
      verdicts: this.#items - this.#errors,
      errors: this.#errors,
      flagged: decided.review + decided.block,
      guard_flagged: this.#guardFlagged,
      by_decision: { ...decided },
      by_category: Object.fromEntries(Object.entries(categories).map(([key, by]) => [key, sumOf(by)])),
      decisions_by_category: categories,
      restricted: this.#restricted,
      without_category: sumOf(this.#withoutCategory),
      decisions_without_category: { ...this.#withoutCategory },
      category_unknown: ordered(this.#categoryUnknown, CATEGORY_KEYS),
      partial: this.#partial,
      judged_as_whole: { conversations: this.#wholeConversations, earlier_turns: this.#earlierTurns },
      by_error_code: ordered(this.#codes, ITEM_CODES),
      ...(this.#reasons.size > 0 && { by_error_reason: ordered(this.#reasons, ITEM_ERROR_REASONS) }),
      by_modality: ordered(this.#modalities, [...MODALITIES, 'unknown']),
      unsupported_files: ordered(this.#unsupportedFiles, []),
      guards: this.#guardShares(),
      reused: this.#reused,
      reused_from: this.#reusedShares(),
      copies: this.#copies,
      thresholds_unapplied: this.#thresholdsUnapplied,
      without_ffmpeg: this.#withoutFfmpeg,
      without_text_column: this.#withoutTextColumn,
      ...(this.#withoutGeneration > 0 && { without_generation: this.#withoutGeneration }),
      ...(streams && { streams }),
      ...(conversations && { conversations }),
    };
  }

  /** By endpoint, then by fingerprint. */
  #guardShares(): GuardShare[] {
    const shares = [...this.#guards].flatMap(([endpoint, byModel]) =>
      [...byModel].map(([fingerprint, verdicts]) => ({
        endpoint,
        kind: kindOf(endpoint),
        fingerprint,
        verdicts,
      })),
    );
    const place = ({ endpoint, fingerprint }: GuardShare): string => `${endpoint} ${fingerprint ?? ''}`;
    return shares.sort((a, b) => (place(a) < place(b) ? -1 : 1));
  }

  #countReused(run: string, fingerprint: string | null): void {
    this.#reused++;
    const from = JSON.stringify([run, fingerprint]);
    const counts = this.#reusedFrom;
    increment(counts, counts.has(from) || counts.size < MAX_REUSED_FROM ? from : '[null,null]');
  }

  #reusedShares(): ReusedShare[] {
    const shares = [...this.#reusedFrom].map(([from, verdicts]) => {
      const [run, fingerprint] = JSON.parse(from) as [string | null, string | null];
      return { run, fingerprint, verdicts };
    });
    return shares.sort((a, b) => b.verdicts - a.verdicts || ((a.run ?? '') < (b.run ?? '') ? -1 : 1));
  }

  #countFlags({ flagged, subcategory_flags, subcategory_scores }: OutcomeLine, decision: Decision): void {
    const flags = subcategory_flags ?? [];
    if (flags.length === 0 && (flagged === true || decision !== 'allow')) this.#withoutCategory[decision]++;
    if (flagged !== true) return;
    this.#guardFlagged++;
    for (const key of CATEGORY_KEYS) {
      if (subcategory_scores?.[key] === undefined && !flags.includes(key))
        increment(this.#categoryUnknown, key);
    }
  }

  #countCoverage({ coverage, request_type, turn }: OutcomeLine): void {
    if (coverage === null) return;
    if (coverage.judged < coverage.total) this.#partial++;
    if (request_type !== 'multiturn' || turn !== null || coverage.total < 2) return;
    this.#wholeConversations++;
    this.#earlierTurns += coverage.total - 1;
  }

  #countCategory(key: string, decision: Decision): void {
    const isCounted = isCategoryKey(key) || this.#categories.has(key);
    const isOther = !isCounted && this.#unknownCategories === MAX_UNKNOWN_CATEGORIES;
    if (!isCounted && !isOther) this.#unknownCategories++;
    const name = isOther ? OTHER_CATEGORIES : key;
    let counts = this.#categories.get(name);
    if (counts === undefined) this.#categories.set(name, (counts = noDecisions()));
    counts[decision]++;
  }

  #countExtension(extension: string): void {
    const counts = this.#unsupportedFiles;
    increment(counts, counts.has(extension) || counts.size < MAX_EXTENSIONS ? extension : OTHER_FILES);
  }

  #countGuard(endpoint: string, fingerprint: string | null): void {
    let verdicts = this.#guards.get(endpoint);
    if (verdicts === undefined) this.#guards.set(endpoint, (verdicts = new Map<string | null, number>()));
    verdicts.set(fingerprint, (verdicts.get(fingerprint) ?? 0) + 1);
  }
}

/** Whether an outcome is of a whole file of an unsupported type, rather than of a record in a file. */
function isUnsupportedFile({ source, error }: OutcomeLine): boolean {
  const isKind = error?.code === 'UNSUPPORTED_TYPE' || error?.code === 'UNSUPPORTED_AUDIO_TYPE';
  return isKind && source.row === null;
}

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function noDecisions(): Record<Decision, number> {
  return { allow: 0, review: 0, block: 0 };
}

function sumOf({ allow, review, block }: DecisionCounts): number {
  return allow + review + block;
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
  return endpoint.startsWith('http') ? 'rest' : 'triton';
}
