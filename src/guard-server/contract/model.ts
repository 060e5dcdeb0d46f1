import type { RequestError } from './request-error.ts';
import type { CacheCounts } from './session-cache.ts';
import type { TensorRequest } from './tensor-request.ts';

/** One tensor of a reply, in the protocol's raw layout. */
export interface OutputTensor {
  readonly name: string;
  readonly datatype: string;
  readonly shape: readonly number[];
  readonly raw: Buffer;
}

/** The reply to one request of an execution: its tensors or its error. */
export type ModelReply =
  | { readonly outputs: readonly OutputTensor[]; readonly modelVersion: string; readonly error: null }
  | { readonly outputs: null; readonly error: RequestError };

/** Requests that an instance judges as one batch. */
export interface Execution {
  /** 0 to instances - 1; each runs one execution at a time. */
  readonly instance: number;
  /** All requests have the same signature, and at most `maxBatchSize` rows in total. */
  readonly requests: readonly TensorRequest[];
  /** When the oldest request was queued, by performance.now(), in milliseconds. */
  readonly waitingSinceMs: number;
}

/** A loaded model, as batchers use it. */
export interface Model {
  /** The version that would judge a request arriving now. */
  readonly version: string;
  /** Use of the session cache since the model was loaded. */
  readonly cacheTotals: CacheCounts;
  /** One reply per request, in order. A rejection fails every request of the execution. */
  execute(execution: Execution): Promise<readonly ModelReply[]>;
}
