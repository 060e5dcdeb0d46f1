import type { ClientTls } from '../../config/keys/guard-tls.ts';
import type { Fingerprint } from '../../domain/fingerprint.ts';
import type { Answer } from './answer.ts';
import type { ConcurrencyPolicy } from '../concurrency/concurrency.ts';
import type { GuardStreams } from '../streams/guard-streams.ts';
import type { RequestRow, RequestKind } from '../tensors/encode-request.ts';

export interface CallOptions {
  /** Timeout of the whole call; for a moderation stream, the max time without progress. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** The model that was deployed when the guard answered a `version` request. */
export interface Reading {
  readonly fingerprint: Fingerprint;
  readonly modelVersion: string;
}

/** The guard's reply to a request. */
export interface Reply {
  /** One per row, in order; null for a row without a valid verdict. Null as a whole when the reply is invalid. */
  readonly answers: readonly (Answer | null)[] | null;
  /** `model_version` of the reply; null over REST, which has none. */
  readonly modelVersion: string | null;
}

/** A guard that can be used, whatever its protocol. Its calls fail with `CallError`, or with the signal's reason. */
export interface ReadyGuard {
  /** Max rows per request. 0 if the model does not batch, which means one row per request. */
  readonly maxBatchSize: number;
  /** Model instances that the server declares; null if it declares none. */
  readonly instances: number | null;
  /** Limit of rows in flight. A new one is created for each period of use. */
  readonly concurrency: ConcurrencyPolicy;
  takes(requestKind: RequestKind): boolean;
  /** Whether it is still ready, by a check that judges nothing. Works without `this`. */
  readonly isReady: (options: CallOptions) => Promise<boolean>;
  /** Judges rows of one kind in one request, or a generation on one stream. Works without `this`. */
  readonly judge: (rows: readonly RequestRow[], options: CallOptions) => Promise<Reply>;
  /** The first version reading, and a function for the next. Null for a guard that does not report its version. */
  readonly version: {
    readonly first: Reading;
    read(options: CallOptions): Promise<Reading>;
  } | null;
  /**
   * Its moderation streams; null when its transport has none. Whether the guard supports them is determined by `takes`.
   */
  readonly streams: GuardStreams | null;
}

/** The part of a guard that canaries use. */
export type CheckedGuard = Pick<ReadyGuard, 'judge'> & {
  takes(requestKind: RequestKind): boolean;
  readonly version: { read(options: CallOptions): Promise<Reading> } | null;
};

/** How a connection identifies this client, and which servers it trusts. */
export interface Credentials {
  /** Bearer token or key; null for none. */
  readonly token: string | null;
  /** Used over TLS only. */
  readonly tls: ClientTls;
}

export interface OpenOptions {
  /** Timeout of a request that judges, in milliseconds. */
  readonly requestTimeoutMs: number;
  /** Whether the guard must judge a harmless text. After a failure it must, otherwise it could flap forever. */
  readonly prove: boolean;
  readonly signal: AbortSignal;
}

/** A connection to one guard, which may not be ready. */
export interface Connection {
  /** Checks that the guard can be used, and negotiates. Throws `NotUsable`, or the signal's reason. */
  open(options: OpenOptions): Promise<ReadyGuard>;
  /** Closes the connection. The callers must have aborted their calls in flight. */
  close(): void;
}
