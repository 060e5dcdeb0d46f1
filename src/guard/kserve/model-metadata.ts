import { NotUsable } from '../protocol/not-usable.ts';
import type { WireModelMetadata, WireTensor } from '../tensors/protocol.ts';
import {
  checkTensors,
  type DataType,
  type DeclaredTensor,
  isContractInput,
  mediaInputsOf,
  MUST_DECLARE,
} from './declared-tensors.ts';
import type { Negotiated } from './negotiate.ts';

/**
 * Max rows per request to a model that batches. Metadata does not say how many it takes: few enough for the memory of a
 * model that computes a batch at once, enough to save most of the cost of single calls.
 */
const MAX_UNDECLARED_ROWS = 16;

/** STRING is the contract's own word for BYTES. */
const DATA_TYPES: ReadonlyMap<string, DataType> = new Map([
  ['BYTES', 'BYTES'],
  ['STRING', 'BYTES'],
  ['BOOL', 'BOOL'],
  ['FP32', 'FP32'],
  ['INT32', 'INT32'],
]);

/**
 * What the model takes by its metadata. Shapes in metadata include the batch dimension, -1 or 1. Whether there is one
 * shows in TEXT: [-1, 1] batched, else [1]. `call`: name of the call that the metadata is from. Throws a fatal `NotUsable`
 * when the tensors are not declared as in the contract.
 */
export function readMetadata(metadata: WireModelMetadata, call: string): Negotiated {
  const inputs = metadata.inputs.map(declared);
  const outputs = metadata.outputs.map(declared);
  if (inputs.length === 0) throw undeclared(call, 'inputs');
  if (outputs.length === 0) throw undeclared(call, 'outputs');
  const batched = inputs.some(({ name, dims }) => name === 'TEXT' && dims.length === 2);
  checkTensors(inputs, outputs, { hasBatchDimension: batched });
  return {
    maxBatchSize: batched ? maxRowsOf(inputs) : 0,
    batched,
    instances: null,
    mediaInputs: mediaInputsOf(inputs),
  };
}

function declared({ name, datatype, shape }: WireTensor): DeclaredTensor {
  return { name, dataType: DATA_TYPES.get(datatype) ?? 'other', dims: shape };
}

/** A batch dimension of 1 on any input the contract knows means one row per request. */
function maxRowsOf(inputs: readonly DeclaredTensor[]): number {
  return inputs.some(({ name, dims }) => isContractInput(name) && dims[0] === 1) ? 1 : MAX_UNDECLARED_ROWS;
}

function undeclared(call: string, what: string): NotUsable {
  return new NotUsable(
    'not a guard',
    true,
    `${call} declares no ${what}: the server must declare ${MUST_DECLARE}`,
  );
}
