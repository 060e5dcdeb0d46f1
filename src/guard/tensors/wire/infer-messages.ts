import type { InferResponse, WireTensor } from '../protocol.ts';
import { FieldReader, MalformedMessage, type ValueBudget } from './field-reader.ts';
import { rawOfTyped } from './typed-contents.ts';

/**
 * ModelInferRequest, ModelInferResponse and ModelStreamInferResponse of proto/grpc_service.proto, as received. Decoded here and not by the library,
 * which may build an object per two bytes before anything can be checked.
 */

/** Max fields and numbers in one message: more than twice those of the longest conversation that fits a context window. */
export const MAX_VALUES = 65_536;

/** Typed contents of a tensor. */
interface ReceivedContents {
  readonly booleans: readonly boolean[];
  readonly bytes: readonly Buffer[];
  /** INT64 values; those beyond 2^53 are approximate. */
  readonly longs: readonly number[];
  /** Whether there are contents of a type that no tensor of the guard's contract has. */
  readonly hasOthers: boolean;
}

/** Value of a request parameter; null for a double, which no parameter of the guard's contract is, and for none. */
export type ParameterValue = boolean | number | string | null;

export interface ReceivedTensor {
  readonly name: string;
  readonly datatype: string;
  readonly shape: readonly number[];
  /** Names of its parameters. */
  readonly parameters: readonly string[];
  readonly contents: ReceivedContents;
}

export interface ReceivedRequest {
  readonly model_name: string;
  readonly model_version: string;
  readonly id: string;
  readonly parameters: ReadonlyMap<string, ParameterValue>;
  readonly inputs: readonly ReceivedTensor[];
  readonly outputs: readonly { readonly name: string; readonly parameters: readonly string[] }[];
  /** Views into the message, in the order of `inputs`; see raw.ts for the layout. */
  readonly raw_input_contents: readonly Buffer[];
}

/** Throws MalformedMessage for a malformed message, and for one with more than MAX_VALUES values. */
export function decodeInferRequest(message: Buffer): ReceivedRequest {
  const fields = reader(message);
  const request = {
    ...{ model_name: '', model_version: '', id: '' },
    parameters: new Map<string, ParameterValue>(),
    inputs: [] as ReceivedTensor[],
    outputs: [] as { name: string; parameters: string[] }[],
    raw_input_contents: [] as Buffer[],
  };
  while (fields.next()) {
    if (fields.number === 1) request.model_name = fields.text();
    else if (fields.number === 2) request.model_version = fields.text();
    else if (fields.number === 3) request.id = fields.text();
    else if (fields.number === 4) readParameter(fields.embedded(), request.parameters);
    else if (fields.number === 5) request.inputs.push(tensorOf(fields.embedded()));
    else if (fields.number === 6) request.outputs.push(outputOf(fields.embedded()));
    else if (fields.number === 7) request.raw_input_contents.push(fields.bytes());
    else fields.skip();
  }
  return request;
}

/**
 * Contents that a server sends typed are returned raw, so that readers see one form. Throws MalformedMessage for a
 * malformed message, for one with more than MAX_VALUES values, and for one with both raw and typed contents.
 */
export function decodeInferResponse(message: Buffer): InferResponse {
  const budget: ValueBudget = { left: MAX_VALUES };
  const fields = new FieldReader(message, budget);
  const texts = { model_name: '', model_version: '', id: '' };
  const outputs: OutputTensor[] = [];
  const raw: Buffer[] = [];
  while (fields.next()) {
    if (fields.number === 1) texts.model_name = fields.text();
    else if (fields.number === 2) texts.model_version = fields.text();
    else if (fields.number === 3) texts.id = fields.text();
    else if (fields.number === 5) outputs.push(outputTensorOf(fields.embedded()));
    else if (fields.number === 6) raw.push(fields.bytes());
    else fields.skip();
  }
  const isTyped = outputs.some(({ typed }) => typed.length > 0);
  if (isTyped && raw.length > 0) throw new MalformedMessage('raw and typed contents');
  return {
    ...texts,
    outputs: outputs.map(({ tensor }) => tensor),
    raw_output_contents: isTyped
      ? outputs.map(({ tensor, typed }) => rawOfTyped(tensor.datatype, typed, budget))
      : raw,
  };
}

/** A tensor of a reply, and its typed contents, undecoded: its data type may come after them. */
interface OutputTensor {
  readonly tensor: WireTensor;
  readonly typed: readonly Buffer[];
}

function outputTensorOf(fields: FieldReader): OutputTensor {
  let name = '';
  let datatype = '';
  const shape: number[] = [];
  const typed: Buffer[] = [];
  while (fields.next()) {
    if (fields.number === 1) name = fields.text();
    else if (fields.number === 2) datatype = fields.text();
    else if (fields.number === 3) fields.integers(shape);
    else if (fields.number === 5) {
      // MLServer sends empty contents along with raw ones.
      const contents = fields.bytes();
      if (contents.length > 0) typed.push(contents);
    } else fields.skip();
  }
  return { tensor: { name, datatype, shape }, typed };
}

/** A reply on a stream (ModelStreamInferResponse): a response, or an error. */
interface StreamReply {
  /** Empty: none. */
  readonly errorMessage: string;
  readonly response: InferResponse | null;
}

/** Throws MalformedMessage for a malformed message, and for one with more than MAX_VALUES values. */
export function decodeStreamInferResponse(message: Buffer): StreamReply {
  const fields = reader(message);
  let errorMessage = '';
  let response: InferResponse | null = null;
  while (fields.next()) {
    if (fields.number === 1) errorMessage = fields.text();
    else if (fields.number === 2) response = decodeInferResponse(fields.bytes());
    else fields.skip();
  }
  return { errorMessage, response };
}

function reader(message: Buffer): FieldReader {
  return new FieldReader(message, { left: MAX_VALUES });
}

function tensorOf(fields: FieldReader): ReceivedTensor {
  let name = '';
  let datatype = '';
  const shape: number[] = [];
  const parameters: string[] = [];
  const contents = {
    booleans: [] as boolean[],
    bytes: [] as Buffer[],
    longs: [] as number[],
    hasOthers: false,
  };
  while (fields.next()) {
    if (fields.number === 1) name = fields.text();
    else if (fields.number === 2) datatype = fields.text();
    else if (fields.number === 3) fields.integers(shape);
    else if (fields.number === 4) parameters.push(keyOf(fields.embedded()));
    else if (fields.number === 5) readContents(fields.embedded(), contents);
    else fields.skip();
  }
  return { name, datatype, shape, parameters, contents };
}

function readContents(
  fields: FieldReader,
  into: {
    readonly booleans: boolean[];
    readonly bytes: Buffer[];
    readonly longs: number[];
    hasOthers: boolean;
  },
): void {
  while (fields.next()) {
    if (fields.number === 1) {
      const numbers: number[] = [];
      fields.integers(numbers);
      for (const number of numbers) into.booleans.push(number !== 0);
    } else if (fields.number === 3) fields.integers(into.longs);
    else if (fields.number === 8) into.bytes.push(fields.bytes());
    else {
      fields.skip();
      into.hasOthers = true;
    }
  }
}

function outputOf(fields: FieldReader): { name: string; parameters: string[] } {
  let name = '';
  const parameters: string[] = [];
  while (fields.next()) {
    if (fields.number === 1) name = fields.text();
    else if (fields.number === 2) parameters.push(keyOf(fields.embedded()));
    else fields.skip();
  }
  return { name, parameters };
}

/** Adds an entry of a map of InferParameter. */
function readParameter(entry: FieldReader, into: Map<string, ParameterValue>): void {
  let key = '';
  let value: ParameterValue = null;
  while (entry.next()) {
    if (entry.number === 1) key = entry.text();
    else if (entry.number === 2) value = parameterValue(entry.embedded());
    else entry.skip();
  }
  into.set(key, value);
}

function parameterValue(fields: FieldReader): ParameterValue {
  let value: ParameterValue = null;
  while (fields.next()) {
    if (fields.number === 1) value = fields.integer() !== 0;
    else if (fields.number === 2 || fields.number === 5) value = fields.integer();
    else if (fields.number === 3) value = fields.text();
    else {
      fields.skip();
      value = null;
    }
  }
  return value;
}

/** The key of a map entry. Its value is not read. */
export function keyOf(entry: FieldReader): string {
  let key = '';
  while (entry.next()) {
    if (entry.number === 1) key = entry.text();
    else entry.skip();
  }
  return key;
}
