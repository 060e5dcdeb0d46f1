import type { WireModelConfig } from '../tensors/protocol.ts';
import {
  checkTensors,
  type DataType,
  type DeclaredTensor,
  isContractInput,
  mediaInputsOf,
  plainName,
  tensorMismatch,
} from './declared-tensors.ts';
import type { Negotiated } from './negotiate.ts';
import { MAX_ROWS_PER_REQUEST } from './reply-bounds.ts';

const DATA_TYPES: ReadonlyMap<string, DataType> = new Map([
  ['TYPE_STRING', 'BYTES'],
  ['TYPE_BOOL', 'BOOL'],
  ['TYPE_FP32', 'FP32'],
  ['TYPE_INT32', 'INT32'],
]);

/**
 * What the model takes by its configuration (ModelConfig of Triton's model configuration extension). Throws a fatal
 * `NotUsable` when it is not the contract's.
 */
export function readConfig(config: WireModelConfig): Negotiated {
  const inputs = config.input.map(declared);
  checkTensors(inputs, config.output.map(declared), { hasBatchDimension: false });
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
    mediaInputs: mediaInputsOf(inputs),
  };
}

function declared(tensor: WireModelConfig['output'][number]): DeclaredTensor {
  const { name, data_type, dims } = tensor;
  return { name, dataType: DATA_TYPES.get(data_type) ?? 'other', dims };
}
