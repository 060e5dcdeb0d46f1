import type { ItemError, ItemErrorReason } from './item-error.ts';
import type { CategoryKey } from './taxonomy.ts';
import type { Coverage } from './coverage.ts';
import type { RoleCounts } from './original-role.ts';

/** What the guard said of one item, and which model said it. Decisions are made later, by the run's policy. */
export interface Judgement {
  /** Probability that the content is hazardous, 0 … 1. */
  readonly score: number;
  /** The guard's own decision at its default threshold. */
  readonly flagged: boolean;
  /** Probabilities of the probes that answered; null when the guard gave none, which is not the same as zero. */
  readonly subcategoryScores: Readonly<Partial<Record<CategoryKey, number>>> | null;
  /** Keys flagged; a guard may use keys outside the taxonomy. Null when the guard gave none. */
  readonly subcategoryFlags: readonly string[] | null;
  /** Fingerprint id in force when it was judged; null for a guard that has none to give. */
  readonly fingerprint: string | null;
  /** As configured: `embedded:`, `grpc://host:8001`. */
  readonly endpoint: string;
  /** From sending the request (its batch) to its reply, in milliseconds. */
  readonly latencyMs: number;
  /** Tries that counted against the item, this one included: 1 for a clean run. */
  readonly attempts: number;
  /** The 8 raw CACHE_USAGE values; null when the guard sent none. */
  readonly cacheUsage: readonly number[] | null;
  /** ISO 8601, UTC, milliseconds: when the reply arrived. */
  readonly moderatedAt: string;
  readonly coverage: Coverage;
}

export interface FailedJudgement {
  readonly error: ItemError;
  readonly attempts: number;
  /** Where the last try went; null when none was made. */
  readonly endpoint: string | null;
  /** ISO 8601, UTC: when the outcome was known. */
  readonly moderatedAt: string;
}

/** What one item got: a judgement, or an error. Exactly one per item. */
export type Outcome =
  | { readonly judgement: Judgement; readonly failure: null }
  | { readonly judgement: null; readonly failure: FailedJudgement };

export type Decision = 'allow' | 'review' | 'block';

export const DECISIONS: readonly Decision[] = ['allow', 'review', 'block'];

/** One line of the verdict log and of verdicts.jsonl. Keys are always present; null where not applicable. */
export interface OutcomeLine {
  readonly schema: 1;
  readonly run: string;
  readonly seq: number;
  readonly id: string;
  readonly source: {
    readonly path: string;
    readonly row: number | null;
    readonly line: number | null;
    readonly sha256: string | null;
    readonly bytes: number | null;
  };
  readonly modality: 'text' | 'image' | 'audio' | null;
  readonly request_type: 'prompt' | 'response' | 'multiturn' | null;
  readonly content_sha256: string | null;
  readonly roles: RoleCounts | null;
  readonly coverage: Coverage | null;
  readonly status: 'ok' | 'error';
  readonly score: number | null;
  readonly flagged: boolean | null;
  readonly subcategory_scores: Readonly<Partial<Record<CategoryKey, number>>> | null;
  readonly subcategory_flags: readonly string[] | null;
  readonly decision: Decision | null;
  readonly decided_by: string | null;
  readonly same_as: number | null;
  readonly fingerprint: string | null;
  readonly endpoint: string | null;
  readonly latency_ms: number | null;
  readonly attempts: number;
  readonly cache_usage: readonly number[] | null;
  readonly moderated_at: string;
  readonly reused_from: string | null;
  readonly error: {
    readonly code: ItemError['code'];
    readonly message: string;
    readonly retryable: boolean;
    /** Only there when the error has one. */
    readonly reason?: ItemErrorReason | undefined;
  } | null;
}
