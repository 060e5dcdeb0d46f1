import { CATEGORY_COUNT } from '../../domain/taxonomy.ts';
import { CACHE_USAGE_WIDTH, MODEL_NAME, type WireModelConfig } from '../../guard/tensors/protocol.ts';

/** Inputs and outputs of the model `guard`: the source of its metadata, its configuration and the request checks. */

const BACKEND = 'guardsweep';

type DataType = 'TYPE_STRING' | 'TYPE_BOOL' | 'TYPE_FP32' | 'TYPE_INT32';

export interface TensorSpec {
  readonly name: string;
  readonly dataType: DataType;
  /** Dimensions without the batch; -1 allows any size. */
  readonly dims: readonly number[];
}

/** Every input is optional in the protocol; REQUEST_TYPE decides which ones a request needs. */
export const INPUTS: readonly TensorSpec[] = [
  { name: 'REQUEST_TYPE', dataType: 'TYPE_STRING', dims: [1] },
  { name: 'MODALITY', dataType: 'TYPE_STRING', dims: [1] },
  { name: 'TEXT', dataType: 'TYPE_STRING', dims: [1] },
  { name: 'IMAGE', dataType: 'TYPE_STRING', dims: [1] },
  { name: 'AUDIO', dataType: 'TYPE_STRING', dims: [1] },
  { name: 'RESPONSE_TEXT', dataType: 'TYPE_STRING', dims: [1] },
  { name: 'MESSAGES', dataType: 'TYPE_STRING', dims: [-1, 2] },
  { name: 'SESSION_ID', dataType: 'TYPE_STRING', dims: [1] },
  { name: 'CACHE_WRITE', dataType: 'TYPE_BOOL', dims: [1] },
];

/** A `version` request is answered with VERSION only, any other with all outputs except VERSION. */
export const OUTPUTS: readonly TensorSpec[] = [
  { name: 'SCORE', dataType: 'TYPE_FP32', dims: [1] },
  { name: 'FLAGGED', dataType: 'TYPE_BOOL', dims: [1] },
  { name: 'SUBCATEGORY_SCORES', dataType: 'TYPE_FP32', dims: [CATEGORY_COUNT] },
  { name: 'SUBCATEGORY_FLAGS', dataType: 'TYPE_BOOL', dims: [CATEGORY_COUNT] },
  { name: 'CACHE_USAGE', dataType: 'TYPE_INT32', dims: [CACHE_USAGE_WIDTH] },
  { name: 'VERSION', dataType: 'TYPE_STRING', dims: [1] },
];

/** The KServe name of a data type: strings are TYPE_STRING in a model configuration and BYTES on the wire. */
export function wireDatatype(dataType: DataType): string {
  return dataType === 'TYPE_STRING' ? 'BYTES' : dataType.slice('TYPE_'.length);
}

/** How the model is served; used for both its configuration and its batcher. */
export interface Serving {
  /** Max rows of an execution; with 0, requests have no batch dimension and are never merged. */
  readonly maxBatchSize: number;
  /** Executions that run concurrently. */
  readonly instances: number;
  /** Max requests in the queue. */
  readonly maxQueueSize: number;
}

/** The reply to ModelConfig. */
export function modelConfig(serving: Serving): WireModelConfig {
  const batching = {
    max_queue_delay_microseconds: 0,
    preserve_ordering: false,
    default_queue_policy: { timeout_action: 'REJECT', max_queue_size: serving.maxQueueSize },
  };
  const config = {
    name: MODEL_NAME,
    backend: BACKEND,
    platform: BACKEND,
    max_batch_size: serving.maxBatchSize,
    input: INPUTS.map(({ name, dataType, dims }) => ({
      name,
      data_type: dataType,
      dims,
      optional: true,
      allow_ragged_batch: false,
    })),
    output: OUTPUTS.map(({ name, dataType, dims }) => ({ name, data_type: dataType, dims })),
    instance_group: [{ name: `${MODEL_NAME}_0`, count: serving.instances, gpus: [], kind: 'KIND_CPU' }],
    ...(serving.maxBatchSize > 0 ? { dynamic_batching: batching } : {}),
    model_transaction_policy: { decoupled: false },
  };
  return config;
}

interface TensorMetadata {
  readonly name: string;
  readonly datatype: string;
  readonly shape: readonly number[];
}

/** The reply to ModelMetadata. */
export interface ModelMetadata {
  readonly name: string;
  readonly versions: readonly string[];
  readonly platform: string;
  readonly inputs: readonly TensorMetadata[];
  readonly outputs: readonly TensorMetadata[];
}

/** Shapes start with the batch dimension, -1, if there is one. */
export function modelMetadata(serving: Serving, version: string): ModelMetadata {
  const lead = serving.maxBatchSize > 0 ? [-1] : [];
  const tensors = (specs: readonly TensorSpec[]): TensorMetadata[] =>
    specs.map(({ name, dataType, dims }) => ({
      name,
      datatype: wireDatatype(dataType),
      shape: [...lead, ...dims],
    }));
  return {
    name: MODEL_NAME,
    versions: [version],
    platform: BACKEND,
    inputs: tensors(INPUTS),
    outputs: tensors(OUTPUTS),
  };
}
