import type { Fingerprint } from '../../domain/fingerprint.ts';
import type { Answer } from './answer.ts';
import type { ConcurrencyPolicy } from '../concurrency/concurrency.ts';
import type { RequestRow, Signature } from '../tensors/encode-request.ts';

export interface CallOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Which model answered, at one moment. */
export interface Reading {
  readonly fingerprint: Fingerprint;
  readonly modelVersion: string;
}

/** What came back for a request. */
export interface Reply {
  /** One for each row, in order; null in place of one that is no verdict, null altogether for a reply that is none. */
  readonly answers: readonly (Answer | null)[] | null;
  /** As the reply states it; null for a guard that states none. */
  readonly modelVersion: string | null;
}

/** A guard that can be used, whatever it speaks. Its calls fail with `CallError`, or with the reason of an abort. */
export interface ReadyGuard {
  /** Most rows in one request; 0 or 1: it takes one at a time. */
  readonly maxBatchSize: number;
  /** How much it is given at a time, beginning with this use of it. */
  readonly concurrency: ConcurrencyPolicy;
  takes(signature: Signature): boolean;
  /** Has rows of one signature judged in one request. */
  judge(rows: readonly RequestRow[], options: CallOptions): Promise<Reply>;
  /** The reading it began with, and how to take the next; null for a guard that does not tell which model it runs. */
  readonly version: {
    readonly first: Reading;
    read(options: CallOptions): Promise<Reading>;
  } | null;
}

export interface OpenOptions {
  /** Longest wait for an answer to a judging request, in milliseconds. */
  readonly requestTimeoutMs: number;
  /** Whether it has to show that it judges: a guard that failed would come and go without end. */
  readonly prove: boolean;
  readonly signal: AbortSignal;
}

/** A connection to one guard, not known to be ready yet. */
export interface Connection {
  /** Finds out whether the guard can be used, and how. Throws `NotUsable`, or the reason of an abort. */
  open(options: OpenOptions): Promise<ReadyGuard>;
  /** Drops it. Calls still in flight must have been aborted by their callers. */
  close(): void;
}
