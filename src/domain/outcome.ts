import type { ItemError, ItemErrorReason } from './item-error.ts';
import type { CategoryScores } from './taxonomy.ts';
import type { Coverage } from './coverage.ts';
import type { GenerationVerdict } from './generation/generation-verdict.ts';
import type { RoleCounts, RequestType } from './request.ts';

/** The guard's verdict on one item, and the model that gave it. The run's policy makes the decision later. */
export interface Judgement {
  /** Probability that the content is hazardous, 0 … 1. */
  readonly score: number;
  /** The guard's own decision at its default threshold. */
  readonly flagged: boolean;
  /** Probabilities of the probes that answered; null if the guard returned none, which differs from zero. */
  readonly subcategoryScores: CategoryScores | null;
  /** Flagged keys; a guard may use keys outside the taxonomy. Null if the guard returned none. */
  readonly subcategoryFlags: readonly string[] | null;
  /** Fingerprint id of the guard when it judged the item; null for a guard without fingerprints. */
  readonly fingerprint: string | null;
  /** Endpoint as configured: `embedded:`, `grpc://host:8001`. */
  readonly endpoint: string;
  /** Time from sending the request (its batch) to its reply, in milliseconds. */
  readonly latencyMs: number;
  /** Attempts that counted against the item, including this one; 1 if the first one succeeded. */
  readonly attempts: number;
  /** The 8 raw CACHE_USAGE values; null if the guard sent none. */
  readonly cacheUsage: readonly number[] | null;
  /** Time at which the reply arrived: ISO 8601, UTC, milliseconds. */
  readonly moderatedAt: string;
  readonly coverage: Coverage;
  /** Findings of the stream of a generation; null for every other request. */
  readonly stream: GenerationVerdict | null;
}

export interface FailedJudgement {
  readonly error: ItemError;
  readonly attempts: number;
  /** Endpoint of the last attempt; null if there was none. */
  readonly endpoint: string | null;
  /** Time at which the outcome was known: ISO 8601, UTC. */
  readonly moderatedAt: string;
}

/** The outcome of one item: a judgement or an error. Exactly one per item. */
export type Outcome =
  | { readonly judgement: Judgement; readonly failure: null }
  | { readonly judgement: null; readonly failure: FailedJudgement };

export type Decision = 'allow' | 'review' | 'block';

export const DECISIONS: readonly Decision[] = ['allow', 'review', 'block'];

/** Findings of the stream of a generation, in an outcome line. */
export interface StreamLine {
  readonly chunks: number;
  readonly first_caution_seq: number | null;
  readonly first_flagged_seq: number | null;
  readonly shown_share_at_caution: number | null;
  readonly shown_share_at_flag: number | null;
  readonly lag_chunks: number;
  readonly lag_ms: number;
}

/** One line of the verdict log, and of verdicts.jsonl. Keys are always present; null where not applicable. */
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
    readonly offset: number | null;
    readonly length: number | null;
  };
  readonly modality: 'text' | 'image' | 'audio' | null;
  readonly request_type: RequestType | null;
  readonly content_sha256: string | null;
  readonly roles: RoleCounts | null;
  readonly turn: number | null;
  readonly part: string | null;
  readonly coverage: Coverage | null;
  readonly status: 'ok' | 'error';
  readonly score: number | null;
  readonly flagged: boolean | null;
  readonly subcategory_scores: CategoryScores | null;
  readonly subcategory_flags: readonly string[] | null;
  readonly decision: Decision | null;
  readonly decided_by: string | null;
  readonly fingerprint: string | null;
  readonly endpoint: string | null;
  readonly latency_ms: number | null;
  readonly attempts: number;
  readonly cache_usage: readonly number[] | null;
  readonly stream: StreamLine | null;
  readonly moderated_at: string;
  readonly reused_from: string | null;
  /** An excerpt of the content, in a run with content. */
  readonly snippet: string | null;
  readonly error: {
    readonly code: ItemError['code'];
    readonly message: string;
    readonly retryable: boolean;
    /** Present only if the error has one. */
    readonly reason?: ItemErrorReason | undefined;
  } | null;
}
