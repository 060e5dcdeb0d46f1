/**
 * Messages of proto/grpc_service.proto as `loadProtoService` decodes them: int64 as number, missing fields set to
 * defaults. Imports no library: the contract of the embedded guard's server shares these with every transport.
 */

/** Model name in the guard's contract. */
export const MODEL_NAME = 'guard';

/** Counts per row in CACHE_USAGE, whose shape is [N,8]. */
export const CACHE_USAGE_WIDTH = 8;

/**
 * Order of the counts in a row of CACHE_USAGE. The contract names these seven and leaves their order open; the eighth
 * value has no meaning.
 */
export const CACHE_USAGE_ORDER = [
  'messageHits',
  'messageMisses',
  'tokenHits',
  'tokenMisses',
  'writes',
  'l1Evictions',
  'l2Evictions',
] as const;

export interface WireTensor {
  readonly name: string;
  readonly datatype: string;
  readonly shape: readonly number[];
  /** Values are InferParameter; only the names matter. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** Typed contents, the alternative to raw ones. */
  readonly contents?: WireContents | null;
}

interface WireContents {
  readonly bool_contents?: readonly boolean[];
  readonly int_contents?: readonly number[];
  readonly fp32_contents?: readonly number[];
  readonly bytes_contents?: readonly Buffer[];
}

/** A requested output. */
export interface WireOutput {
  readonly name: string;
  /** Values are InferParameter; only the names matter. */
  readonly parameters?: Readonly<Record<string, unknown>>;
}

export interface InferRequest {
  readonly model_name: string;
  readonly model_version: string;
  readonly id: string;
  /** Values are InferParameter; only the names matter. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly inputs: readonly WireTensor[];
  readonly outputs?: readonly WireOutput[];
  /** In the order of `inputs`; see raw.ts for the layout. */
  readonly raw_input_contents: readonly Buffer[];
}

export interface InferResponse {
  readonly model_name: string;
  readonly model_version: string;
  readonly id: string;
  readonly outputs: readonly WireTensor[];
  readonly raw_output_contents: readonly Buffer[];
}

/**
 * The fields of the reply to ModelMetadata that a client reads. Shapes include the batch dimension of a model that
 * batches.
 */
export interface WireModelMetadata {
  readonly inputs: readonly WireTensor[];
  readonly outputs: readonly WireTensor[];
}

export interface WireModelConfig {
  readonly name: string;
  readonly backend: string;
  readonly max_batch_size: number;
  readonly input: readonly {
    readonly name: string;
    readonly data_type: string;
    readonly dims: readonly number[];
    readonly optional: boolean;
    readonly allow_ragged_batch: boolean;
  }[];
  readonly output: readonly {
    readonly name: string;
    readonly data_type: string;
    readonly dims: readonly number[];
  }[];
  readonly instance_group: readonly { readonly name: string; readonly count: number }[];
  readonly model_transaction_policy?: { readonly decoupled: boolean } | null;
  readonly dynamic_batching?: {
    readonly default_queue_policy?: { readonly max_queue_size: number } | null;
  } | null;
}
