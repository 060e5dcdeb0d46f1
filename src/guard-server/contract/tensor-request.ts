import { MODEL_NAME } from '../../guard/tensors/protocol.ts';
import { countBytes, decodeBooleans, decodeBytes } from '../../guard/tensors/raw.ts';
import {
  MAX_VALUES,
  type ReceivedRequest,
  type ReceivedTensor,
} from '../../guard/tensors/wire/infer-messages.ts';
import { INPUTS, OUTPUTS, wireDatatype, type TensorSpec } from './definition.ts';
import { invalidRequest, quoted, type RequestError, shortened } from './request-error.ts';

/** A request whose tensors are well formed. Their contents are not validated yet. */
export interface TensorRequest {
  readonly id: string;
  /** N; 1 if requests have no batch dimension. */
  readonly rows: number;
  /** Whether the tensors of request and reply have a batch dimension. */
  readonly batched: boolean;
  /** Elements of each BYTES input, in row-major order. */
  readonly strings: ReadonlyMap<string, readonly Buffer[]>;
  /** Turns per row of MESSAGES, whose shape is [N, turns, 2]; 0 if the request lacks that input. */
  readonly turns: number;
  /** CACHE_WRITE of each row; null if the request lacks that input. */
  readonly cacheWrite: readonly boolean[] | null;
  /** Requested outputs; null requests all. */
  readonly outputs: ReadonlySet<string> | null;
  /** Only requests of equal signature are merged into one execution. */
  readonly signature: string;
  /** Size of the tensor contents. */
  readonly bytes: number;
}

const SPECS: ReadonlyMap<string, TensorSpec> = new Map(INPUTS.map((spec) => [spec.name, spec]));
const OUTPUT_NAMES: ReadonlySet<string> = new Set(OUTPUTS.map(({ name }) => name));

/** The only `triton_` parameter that a client may set: Triton reserves the prefix. */
const ALLOWED_RESERVED = 'triton_enable_empty_final_response';

/** Tensor parameters of Triton extensions that are not supported: shared memory and classification. */
const EXTENSION = /^(shared_memory_|classification$)/;

/**
 * Reads the tensors of a ModelInfer request, raw or typed, and checks names, data types, shapes and sizes as Triton
 * does before a model sees a request. With `maxBatchSize` 0, tensors have no batch dimension. Throws RequestError:
 * INVALID_REQUEST.
 */
export function readTensors(request: ReceivedRequest, maxBatchSize: number): TensorRequest {
  const { id } = request;
  checkParameters(request);
  const outputs = readOutputNames(request);
  const count = request.inputs.length;
  if (count === 0) throw invalidRequest(id, `a request to model '${MODEL_NAME}' needs at least one input`);
  const raw = readRawFlag(request);

  const batched = maxBatchSize > 0;
  const strings = new Map<string, readonly Buffer[]>();
  let cacheWrite: readonly boolean[] | null = null;
  let rows = batched ? 0 : 1;
  let turns = 0;
  let bytes = 0;
  for (let index = 0; index < count; index++) {
    const tensor = request.inputs[index]!;
    const spec = SPECS.get(tensor.name);
    if (spec === undefined) {
      throw invalidRequest(id, `unexpected input ${quoted(tensor.name)} for model '${MODEL_NAME}'`);
    }
    if (strings.has(spec.name) || (spec.dataType === 'TYPE_BOOL' && cacheWrite !== null)) {
      throw invalidRequest(id, `input '${spec.name}' is given more than once`);
    }
    checkTensor(tensor, spec, batched, id);
    if (batched) {
      if (index > 0 && tensor.shape[0] !== rows) {
        throw invalidRequest(id, `input '${spec.name}' has another batch size than the inputs before it`);
      }
      rows = tensor.shape[0]!;
    }
    const content = raw ? request.raw_input_contents[index]! : null;
    const elements = checkElements(tensor, content, spec, id);
    if (spec.dataType === 'TYPE_BOOL') {
      const values = content === null ? tensor.contents.booleans : decodeBooleans(content);
      if (values === null) throw malformed(spec, id);
      cacheWrite = values;
      bytes += elements;
    } else {
      const values = content === null ? tensor.contents.bytes : decodeBytes(content)!;
      strings.set(spec.name, values);
      for (const value of values) bytes += value.length;
    }
    if (spec.name === 'MESSAGES') turns = tensor.shape[batched ? 1 : 0]!;
  }
  if (batched && rows > maxBatchSize) {
    throw invalidRequest(
      id,
      `batch size ${rows} is more than the ${maxBatchSize} allowed for model '${MODEL_NAME}'`,
    );
  }
  const names = [...strings.keys(), ...(cacheWrite === null ? [] : ['CACHE_WRITE'])].sort();
  const signature = `${names.join()};${turns}`;
  return { id, rows, batched, strings, turns, cacheWrite, outputs, signature, bytes };
}

function checkParameters(request: ReceivedRequest): void {
  for (const key of request.parameters.keys()) {
    if (key.startsWith('triton_') && key !== ALLOWED_RESERVED) {
      throw invalidRequest(request.id, `parameter ${quoted(key)} is reserved`);
    }
  }
  for (const { name, parameters } of [...request.inputs, ...request.outputs]) {
    const key = parameters.find((parameter) => EXTENSION.test(parameter));
    if (key !== undefined) {
      throw invalidRequest(
        request.id,
        `tensor ${quoted(name)} has parameter ${quoted(key)}, which is not supported`,
      );
    }
  }
}

function readOutputNames(request: ReceivedRequest): ReadonlySet<string> | null {
  if (request.outputs.length === 0) return null;
  const names = new Set<string>();
  for (const { name } of request.outputs) {
    if (!OUTPUT_NAMES.has(name)) {
      throw invalidRequest(request.id, `unexpected output ${quoted(name)} for model '${MODEL_NAME}'`);
    }
    names.add(name);
  }
  return names;
}

/** Whether the contents are raw. A request may not mix raw and typed contents. */
function readRawFlag(request: ReceivedRequest): boolean {
  const raws = request.raw_input_contents.length;
  if (raws === 0) return false;
  for (const { name, contents } of request.inputs) {
    const { booleans, bytes, longs, hasOthers } = contents;
    if (hasOthers || booleans.length > 0 || bytes.length > 0 || longs.length > 0) {
      throw invalidRequest(request.id, `input ${quoted(name)} has typed contents in a request with raw ones`);
    }
  }
  if (raws !== request.inputs.length) {
    throw invalidRequest(request.id, `${raws} raw contents for ${request.inputs.length} inputs`);
  }
  return true;
}

function checkTensor(tensor: ReceivedTensor, spec: TensorSpec, batched: boolean, id: string): void {
  const datatype = wireDatatype(spec.dataType);
  if (tensor.datatype !== datatype) {
    throw invalidRequest(id, `input '${spec.name}' has data type ${datatype}, not the one given`);
  }
  const expected = batched ? [-1, ...spec.dims] : spec.dims;
  const fits =
    tensor.shape.length === expected.length &&
    expected.every((size, dimension) => {
      const given = tensor.shape[dimension]!;
      return size === -1 ? Number.isSafeInteger(given) && given >= 0 : given === size;
    });
  if (!fits || (batched && tensor.shape[0] === 0)) {
    const given = shortened(tensor.shape.join());
    throw invalidRequest(id, `input '${spec.name}' has shape [${given}], expected [${expected.join()}]`);
  }
}

/**
 * The number of elements of a tensor, checked against its shape and MAX_VALUES before any element is decoded: a list of
 * tiny elements would take many times the bytes of the message.
 */
function checkElements(tensor: ReceivedTensor, content: Buffer | null, spec: TensorSpec, id: string): number {
  const expected = tensor.shape.reduce((product, size) => product * size, 1);
  const isBoolean = spec.dataType === 'TYPE_BOOL';
  const typed = isBoolean ? tensor.contents.booleans : tensor.contents.bytes;
  const given = content === null ? typed.length : isBoolean ? content.length : countBytes(content);
  if (given === null) throw malformed(spec, id);
  if (given !== expected) {
    throw invalidRequest(id, `input '${spec.name}' has ${given} elements, its shape says ${expected}`);
  }
  if (given > MAX_VALUES) {
    throw invalidRequest(id, `input '${spec.name}' has ${given} elements, more than ${MAX_VALUES}`);
  }
  return given;
}

function malformed(spec: TensorSpec, id: string): RequestError {
  return invalidRequest(id, `the contents of input '${spec.name}' are not well formed`);
}
