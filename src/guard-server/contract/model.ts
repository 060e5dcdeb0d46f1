import type { RequestError } from './request-error.ts';
import type { TensorRequest } from './tensor-request.ts';

/** One tensor of a reply, in the protocol's raw layout. */
export interface OutputTensor {
  readonly name: string;
  readonly datatype: string;
  readonly shape: readonly number[];
  readonly raw: Buffer;
}

/** What one request of an execution gets: tensors, or an error of its own. */
export type Reply =
  | { readonly outputs: readonly OutputTensor[]; readonly modelVersion: string; readonly error: null }
  | { readonly outputs: null; readonly error: RequestError };

/** Requests that are judged together on one instance. */
export interface Execution {
  /** 0 … instances - 1; one execution at a time on each. */
  readonly instance: number;
  /** All of one signature, together at most `maxBatchSize` rows. */
  readonly requests: readonly TensorRequest[];
  /** When the oldest of the requests began to wait: milliseconds on performance.now(). */
  readonly waitingSinceMs: number;
}

/** A loaded model, as the batcher sees it. */
export interface Model {
  /** The version that a request arriving now would be judged by. */
  readonly version: string;
  /** One reply a request, in their order. A rejection fails every request of the execution. */
  execute(execution: Execution): Promise<readonly Reply[]>;
}
