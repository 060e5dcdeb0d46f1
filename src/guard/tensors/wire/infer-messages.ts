import type { InferResponse, WireTensor } from '../protocol.ts';
import { encodeBooleans, encodeByteStrings, encodeFloats, encodeInts } from '../raw.ts';

/**
 * ModelInferRequest and ModelInferResponse of proto/grpc_service.proto: as the library decodes them, and as the rest of
 * the code reads them.
 */

/** Max elements of an input: more than twice those of the longest conversation that fits a context window. */
export const MAX_VALUES = 65_536;

/** Thrown if the bytes are not a message of the expected kind. */
export class MalformedMessage extends Error {
  override readonly name = 'MalformedMessage';
}

/** Typed contents of a tensor. */
interface ReceivedContents {
  readonly booleans: readonly boolean[];
  readonly bytes: readonly Buffer[];
  /** INT64 values; those beyond 2^53 are approximate. */
  readonly longs: readonly number[];
  /** Whether there are contents of a type that no tensor of the guard's contract has. */
  readonly hasOthers: boolean;
}

/**
 * Value of a request parameter; null if it is missing or a double, which no parameter of the guard's contract has as
 * its type.
 */
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

interface DecodedContents {
  readonly bool_contents: readonly boolean[];
  readonly int_contents: readonly number[];
  readonly int64_contents: readonly number[];
  readonly uint_contents: readonly number[];
  readonly uint64_contents: readonly number[];
  readonly fp32_contents: readonly number[];
  readonly fp64_contents: readonly number[];
  readonly bytes_contents: readonly Buffer[];
}

interface DecodedTensor {
  readonly name: string;
  readonly datatype: string;
  readonly shape: readonly number[];
  readonly parameters: Readonly<Record<string, object>>;
  readonly contents: DecodedContents | null;
}

/** A ModelInferRequest as the library decodes it. */
export interface DecodedRequest {
  readonly model_name: string;
  readonly model_version: string;
  readonly id: string;
  readonly parameters: Readonly<Record<string, Readonly<Record<string, boolean | number | string>>>>;
  readonly inputs: readonly DecodedTensor[];
  readonly outputs: readonly {
    readonly name: string;
    readonly parameters: Readonly<Record<string, object>>;
  }[];
  readonly raw_input_contents: readonly Buffer[];
}

/** A ModelInferResponse as the library decodes it. */
export interface DecodedResponse {
  readonly model_name: string;
  readonly model_version: string;
  readonly id: string;
  readonly outputs: readonly DecodedTensor[];
  readonly raw_output_contents: readonly Buffer[];
}

/** Converts a decoded request. It may keep the memory of the whole message alive: its contents are views into it. */
export function receivedRequest(decoded: DecodedRequest): ReceivedRequest {
  const { model_name, model_version, id, parameters, raw_input_contents } = decoded;
  return {
    model_name,
    model_version,
    id,
    parameters: new Map(
      Object.entries(parameters).map(([key, { double_param: double, ...value }]) => [
        key,
        double === undefined ? (Object.values(value)[0] ?? null) : null,
      ]),
    ),
    inputs: decoded.inputs.map((tensor) => ({
      name: tensor.name,
      datatype: tensor.datatype,
      shape: tensor.shape,
      parameters: Object.keys(tensor.parameters),
      contents: tensor.contents === null ? NO_CONTENTS : receivedContents(tensor.contents),
    })),
    outputs: decoded.outputs.map((output) => ({
      name: output.name,
      parameters: Object.keys(output.parameters),
    })),
    raw_input_contents,
  };
}

const NO_CONTENTS: ReceivedContents = { booleans: [], bytes: [], longs: [], hasOthers: false };

function receivedContents(contents: DecodedContents): ReceivedContents {
  const { bool_contents, bytes_contents, int64_contents, ...others } = contents;
  return {
    booleans: bool_contents,
    bytes: bytes_contents,
    longs: int64_contents,
    hasOthers: Object.values(others).some((values: readonly unknown[]) => values.length > 0),
  };
}

/**
 * Converts typed contents to raw ones, so readers see one form. Throws MalformedMessage for a response
 * with both, and for contents of another type than their tensor's.
 */
export function inferResponse(decoded: DecodedResponse): InferResponse {
  const { model_name, model_version, id, raw_output_contents: raw } = decoded;
  // MLServer sends empty contents along with raw ones.
  const isTyped = decoded.outputs.some(
    ({ contents }) => contents !== null && Object.values(contents).some(hasValues),
  );
  if (isTyped && raw.length > 0) throw new MalformedMessage('raw and typed contents');
  return {
    model_name,
    model_version,
    id,
    outputs: decoded.outputs.map(({ name, datatype, shape }): WireTensor => ({ name, datatype, shape })),
    raw_output_contents: isTyped ? decoded.outputs.map(rawOfTyped) : raw,
  };
}

function hasValues(values: readonly unknown[]): boolean {
  return values.length > 0;
}

/** Field and raw form (raw.ts) of each data type of the contract. */
const TYPED: ReadonlyMap<
  string,
  { readonly field: keyof DecodedContents; readonly raw: (contents: DecodedContents) => Buffer }
> = new Map([
  ['BOOL', { field: 'bool_contents', raw: ({ bool_contents: values }) => encodeBooleans(values) }],
  ['INT32', { field: 'int_contents', raw: ({ int_contents: values }) => encodeInts(values) }],
  ['FP32', { field: 'fp32_contents', raw: ({ fp32_contents: values }) => encodeFloats(values) }],
  ['BYTES', { field: 'bytes_contents', raw: ({ bytes_contents: values }) => encodeByteStrings(values) }],
]);

/** Empty for data types that are not in the contract. */
function rawOfTyped({ datatype, contents }: DecodedTensor): Buffer {
  const typed = TYPED.get(datatype);
  if (typed === undefined || contents === null) return Buffer.alloc(0);
  const isOther = Object.entries(contents).some(
    ([field, values]: [string, readonly unknown[]]) => field !== typed.field && hasValues(values),
  );
  if (isOther) throw new MalformedMessage('type of contents');
  return typed.raw(contents);
}
