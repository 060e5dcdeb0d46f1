import { CallError, isTimeout, UnimplementedCall } from '../protocol/call-error.ts';
import type { CallOptions } from '../protocol/connection.ts';
import { NotUsable, notUsable } from '../protocol/not-usable.ts';
import type { TensorLayout } from '../tensors/encode-request.ts';
import { MODEL_NAME, type WireModelConfig, type WireModelMetadata } from '../tensors/protocol.ts';
import {
  checkTensors,
  type DeclaredTensor,
  isContractInput,
  findMediaInputs,
  MUST_DECLARE,
  plainName,
  tensorMismatch,
  wireDataType,
} from './declared-tensors.ts';
import { type KserveCalls, MAX_ROWS_PER_REQUEST } from './kserve-calls.ts';

/** Limits of the model, from its configuration or its metadata. */
export interface ModelLimits extends TensorLayout {
  /** Max rows per request. 0 if the model does not batch, and tensors have no batch dimension. */
  readonly maxBatchSize: number;
  /**
   * Model instances, 1 or more: the number of concurrent executions on the server. Null when it does not declare them.
   */
  readonly instances: number | null;
  /** Names of its inputs among IMAGE and AUDIO. */
  readonly mediaInputs: ReadonlySet<string>;
}

/**
 * Max rows per request to a model that batches but whose metadata does not declare how many. Few enough for the memory
 * of a model that computes a batch at once, enough to save most of the cost of single calls.
 */
const MAX_UNDECLARED_ROWS = 16;

/**
 * Asks an endpoint whether server and model are ready, and how the model declares its tensors: in its configuration, or
 * in its metadata if the server has no configuration. Throws `NotUsable`: fatal when a ready server does not know the
 * model, the key is refused, or the tensors are not declared as in the contract.
 */
export async function negotiate(calls: KserveCalls, options: CallOptions): Promise<ModelLimits> {
  try {
    if (!(await calls.serverReady(options))) throw new NotUsable('not ready', false);
    if (!(await isModelReady(calls, options))) {
      throw new NotUsable('not ready', false, `its model ${MODEL_NAME} is not ready`);
    }
    const config = await calls.modelConfig(options);
    const declared = config !== null && (config.input.length > 0 || config.output.length > 0);
    if (declared) return readConfig(config);
    return readMetadata(await calls.modelMetadata(options), calls.metadataCall);
  } catch (error) {
    throw notUsable(error, options);
  }
}

/**
 * Whether the model is ready. Some servers answer an error for an unknown model, and some for one that they are still
 * loading. The metadata, which is available for both kinds of known models, distinguishes these.
 */
async function isModelReady(calls: KserveCalls, options: CallOptions): Promise<boolean> {
  try {
    return await calls.modelReady(options);
  } catch (error) {
    if (!(error instanceof CallError) || !mayConcernModel(error)) throw error;
    await calls.modelMetadata(options);
    return false;
  }
}

/** Whether an error answer may concern only this model. */
function mayConcernModel(error: CallError): boolean {
  const { fault } = error;
  switch (fault.kind) {
    case 'barred':
      return fault.reason === 'unknown model';
    case 'refused':
      return !(error instanceof UnimplementedCall);
    case 'attempt':
      return !isTimeout(fault);
    default:
      return false;
  }
}

/**
 * Reads the model's configuration (ModelConfig of Triton's model configuration extension). Throws a fatal `NotUsable`
 * when it does not match the contract.
 */
function readConfig(config: WireModelConfig): ModelLimits {
  const inputs = config.input.map(declaredInConfig);
  checkTensors(inputs, config.output.map(declaredInConfig), { hasBatchDimension: false });
  const required = config.input.find(({ name, optional }) => !optional && !isContractInput(name));
  if (required !== undefined) throw tensorMismatch(`input ${plainName(required.name)} is required`);
  if (config.model_transaction_policy?.decoupled === true) {
    throw tensorMismatch('its model is decoupled: it answers in streams only');
  }
  const instances = config.instance_group.reduce((sum, group) => sum + Math.max(1, group.count), 0);
  return {
    maxBatchSize: Math.min(MAX_ROWS_PER_REQUEST, Math.max(0, config.max_batch_size)),
    batched: config.max_batch_size > 0,
    instances: Math.max(1, instances),
    mediaInputs: findMediaInputs(inputs),
  };
}

function declaredInConfig({ name, data_type, dims }: WireModelConfig['output'][number]): DeclaredTensor {
  return { name, dataType: wireDataType(data_type), dims };
}

/**
 * Reads the model's metadata. Shapes in metadata include the batch dimension, -1 or 1. The shape of TEXT shows whether
 * there is one: [-1, 1] if batched, otherwise [1]. `call` is the name of the call that returned the metadata. Throws a
 * fatal `NotUsable` when the tensors are not declared as in the contract.
 */
function readMetadata(metadata: WireModelMetadata, call: string): ModelLimits {
  const inputs = metadata.inputs.map(declaredOnWire);
  const outputs = metadata.outputs.map(declaredOnWire);
  if (inputs.length === 0) throw undeclaredTensors(call, 'inputs');
  if (outputs.length === 0) throw undeclaredTensors(call, 'outputs');
  const batched = inputs.some(({ name, dims }) => name === 'TEXT' && dims.length === 2);
  checkTensors(inputs, outputs, { hasBatchDimension: batched });
  return {
    maxBatchSize: batched ? maxRowsOf(inputs) : 0,
    batched,
    instances: null,
    mediaInputs: findMediaInputs(inputs),
  };
}

function declaredOnWire({ name, datatype, shape }: WireModelMetadata['inputs'][number]): DeclaredTensor {
  return { name, dataType: wireDataType(datatype), dims: shape };
}

/** Max rows of a batch. A batch dimension of 1 on any input of the contract means one row per request. */
function maxRowsOf(inputs: readonly DeclaredTensor[]): number {
  return inputs.some(({ name, dims }) => isContractInput(name) && dims[0] === 1) ? 1 : MAX_UNDECLARED_ROWS;
}

function undeclaredTensors(call: string, what: string): NotUsable {
  return new NotUsable(
    'not a guard',
    true,
    `${call} declares no ${what}: the server must declare ${MUST_DECLARE}`,
  );
}
