import { CATEGORY_COUNT } from '../../domain/taxonomy.ts';
import { NotUsable } from '../protocol/not-usable.ts';
import { CACHE_USAGE_WIDTH } from '../tensors/protocol.ts';

/** A tensor as a server declares it. */
export interface DeclaredTensor {
  readonly name: string;
  /** Name on the wire. */
  readonly dataType: string;
  readonly dims: readonly number[];
}

/** Whether declared dimensions begin with the batch dimension. It is then -1, or 1 for a model that takes one row. */
export interface BatchDimension {
  readonly hasBatchDimension: boolean;
}

type ContractTensor = readonly [name: string, dataType: string, dims: readonly number[]];

/**
 * Converts a data type to its wire name. Configurations write `TYPE_FP32`; STRING is the contract's own word for BYTES.
 */
export function wireDataType(name: string): string {
  const plain = name.replace(/^TYPE_/, '');
  return plain === 'STRING' ? 'BYTES' : plain;
}

/** Inputs that every guard must declare; IMAGE and AUDIO may be missing in a guard for texts. */
const REQUIRED_INPUTS: readonly ContractTensor[] = [
  ['REQUEST_TYPE', 'BYTES', [1]],
  ['MODALITY', 'BYTES', [1]],
  ['TEXT', 'BYTES', [1]],
  ['RESPONSE_TEXT', 'BYTES', [1]],
  ['SESSION_ID', 'BYTES', [1]],
  ['MESSAGES', 'BYTES', [-1, 2]],
  ['CACHE_WRITE', 'BOOL', [1]],
];

const MEDIA_INPUTS: readonly ContractTensor[] = [
  ['IMAGE', 'BYTES', [1]],
  ['AUDIO', 'BYTES', [1]],
];
const INPUTS = [...REQUIRED_INPUTS, ...MEDIA_INPUTS];

/** Outputs that every verdict needs; the optional ones may be missing. */
const REQUIRED_OUTPUTS: readonly ContractTensor[] = [
  ['SCORE', 'FP32', [1]],
  ['FLAGGED', 'BOOL', [1]],
];
const OPTIONAL_OUTPUTS: readonly ContractTensor[] = [
  ['SUBCATEGORY_SCORES', 'FP32', [CATEGORY_COUNT]],
  ['SUBCATEGORY_FLAGS', 'BOOL', [CATEGORY_COUNT]],
  ['CACHE_USAGE', 'INT32', [CACHE_USAGE_WIDTH]],
];
const OUTPUTS = [...REQUIRED_OUTPUTS, ...OPTIONAL_OUTPUTS];

/** Whether the contract knows an input of this name. */
export function isContractInput(name: string): boolean {
  return INPUTS.some(([known]) => known === name);
}

/** Throws a fatal `NotUsable` that names the first tensor that is not declared as in the contract. */
export function checkTensors(
  inputs: readonly DeclaredTensor[],
  outputs: readonly DeclaredTensor[],
  form: BatchDimension,
): void {
  const mismatch =
    inputs.map((input) => mismatchOf('input', input, INPUTS, form)).find(Boolean) ??
    findMissing('input', REQUIRED_INPUTS, inputs) ??
    findMissing('output', REQUIRED_OUTPUTS, outputs) ??
    outputs.map((output) => mismatchOf('output', output, OUTPUTS, form)).find(Boolean);
  if (mismatch !== undefined) throw tensorMismatch(mismatch);
}

export function tensorMismatch(what: string): NotUsable {
  return new NotUsable('not a guard', true, `tensor mismatch: ${what}`);
}

/** Names of the declared inputs among IMAGE and AUDIO. */
export function findMediaInputs(inputs: readonly DeclaredTensor[]): ReadonlySet<string> {
  const media = MEDIA_INPUTS.map(([name]) => name);
  return new Set(media.filter((name) => inputs.some((input) => input.name === name)));
}

/** Human-readable list of what a server must declare to be a guard. */
export const MUST_DECLARE =
  `the inputs ${REQUIRED_INPUTS.map(([name]) => name).join(', ')} ` +
  `and the outputs ${REQUIRED_OUTPUTS.map(([name]) => name).join(' and ')}`;

function findMissing(
  side: string,
  required: readonly ContractTensor[],
  declared: readonly DeclaredTensor[],
): string | undefined {
  const absent = required.find(([name]) => !declared.some((tensor) => tensor.name === name));
  return absent && `${side} ${absent[0]} is missing`;
}

function mismatchOf(
  side: string,
  declared: DeclaredTensor,
  known: readonly ContractTensor[],
  { hasBatchDimension }: BatchDimension,
): string | undefined {
  const expected = known.find(([name]) => name === declared.name);
  if (expected === undefined) return undefined;
  const [name, dataType, dims] = expected;
  if (declared.dataType !== dataType) return `${side} ${name} is not ${dataType}`;
  const shape = hasBatchDimension ? [-1, ...dims] : dims;
  const fits =
    declared.dims.length === shape.length &&
    shape.every((size, axis) => {
      const found = declared.dims[axis];
      return found === size || found === -1 || (hasBatchDimension && axis === 0 && found === 1);
    });
  return fits ? undefined : `${side} ${name} does not have the shape [${shape.join(', ')}]`;
}

/** Makes a tensor's name safe to print: names come from the server and can be anything. */
export function plainName(name: string): string {
  return /^\w{1,64}$/.test(name) ? name : '(unprintable)';
}
