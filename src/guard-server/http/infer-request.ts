import { z } from 'zod';
import { encodeBooleans, encodeByteStrings } from '../../guard/tensors/raw.ts';
import type { ReceivedRequest, ReceivedTensor } from '../../guard/tensors/wire/infer-messages.ts';
import { invalidRequest } from '../contract/request-error.ts';
import { parseJson } from './request-body.ts';

/** The model named by the path of a request. A `version` of '' is the current one. */
export interface ModelRef {
  readonly name: string;
  readonly version: string;
}

export interface InferCall {
  readonly request: ReceivedRequest;
  /** Whether an output is sent as binary data instead of JSON. */
  readonly isBinary: (output: string) => boolean;
}

const PARAMETER = z.union([z.boolean(), z.number(), z.string()]);

/** Schema for the parameters of an inference request or a tensor, some of which have a given type. */
function parametersWith<Shape extends z.ZodRawShape>(shape: Shape) {
  return z
    .object(shape)
    .catchall(PARAMETER)
    .prefault({} as never);
}

const INPUT = z.object({
  name: z.string(),
  datatype: z.string(),
  shape: z.array(z.number()),
  parameters: parametersWith({ binary_data_size: z.int().min(0).optional() }),
  data: z.array(z.unknown()).optional(),
});

const INFER_REQUEST = z.object({
  id: z.string().default(''),
  parameters: parametersWith({ binary_data_output: z.boolean().optional() }),
  inputs: z.array(INPUT).default([]),
  outputs: z
    .array(
      z.object({ name: z.string(), parameters: parametersWith({ binary_data: z.boolean().optional() }) }),
    )
    .default([]),
});

type JsonInput = z.infer<typeof INPUT>;

/** Parameter of an input whose data is in shared memory. The model's contract rejects it, as over gRPC. */
const SHARED_MEMORY = 'shared_memory_region';

/** MESSAGES has the most dimensions: rows, turns, role and content. */
const MAX_NESTING = 3;

/**
 * Reads the body of an inference request: JSON and, with the binary tensor data extension, the raw contents of inputs
 * after it (Triton, docs/protocol/extension_binary_data.md). `jsonLength` is the header
 * Inference-Header-Content-Length; if undefined, the whole body is JSON. Throws RequestError INVALID_REQUEST for a
 * malformed body.
 */
export function readInferCall(body: Buffer, jsonLength: string | undefined, model: ModelRef): InferCall {
  const end = jsonLength === undefined ? body.length : parseLength(jsonLength, body.length);
  const { id, parameters, inputs, outputs } = parseJson(body.subarray(0, end), INFER_REQUEST);
  const perOutput = new Map(outputs.map((output) => [output.name, output.parameters.binary_data]));
  const request: ReceivedRequest = {
    model_name: model.name,
    model_version: model.version,
    id,
    parameters: new Map(Object.entries(parameters).map(([name, value]) => [name, wholeOrNull(value)])),
    outputs: outputs.map((output) => ({ name: output.name, parameters: Object.keys(output.parameters) })),
    ...readContents(id, inputs, body.subarray(end)),
  };
  return { request, isBinary: (name) => perOutput.get(name) ?? parameters.binary_data_output ?? false };
}

function parseLength(header: string, bodyLength: number): number {
  const length = /^\d{1,10}$/.test(header) ? Number(header) : 0;
  if (length < 1 || length > bodyLength) {
    throw invalidRequest('', `Inference-Header-Content-Length is not between 1 and ${bodyLength}`);
  }
  return length;
}

/** Converts fractions to null: they count as doubles, which no parameter of the guard's contract has as its type. */
function wholeOrNull(value: boolean | number | string | undefined): boolean | number | string | null {
  return typeof value === 'number' && !Number.isInteger(value) ? null : (value ?? null);
}

/** The inputs, and their raw contents if any of them is binary: a request has either raw or typed contents. */
function readContents(
  id: string,
  inputs: readonly JsonInput[],
  binary: Buffer,
): Pick<ReceivedRequest, 'inputs' | 'raw_input_contents'> {
  const tensors = inputs.map((input) => readTensor(id, input));
  const sizes = inputs.map(({ parameters }) => parameters.binary_data_size);
  const total = sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
  if (total !== binary.length) {
    throw invalidRequest(
      id,
      `${binary.length} bytes follow the JSON, the inputs have ${total} bytes of binary data`,
    );
  }
  if (sizes.every((size) => size === undefined)) return { inputs: tensors, raw_input_contents: [] };
  let at = 0;
  const raw = tensors.map(({ contents: { booleans, bytes } }, index) => {
    const size = sizes[index];
    if (size !== undefined) return binary.subarray(at, (at += size));
    return booleans.length > 0 ? encodeBooleans(booleans) : encodeByteStrings(bytes);
  });
  return { inputs: tensors.map((tensor) => ({ ...tensor, contents: NO_DATA })), raw_input_contents: raw };
}

const NO_DATA: ReceivedTensor['contents'] = { booleans: [], bytes: [], longs: [], hasOthers: false };

function readTensor(id: string, { name, datatype, shape, parameters, data }: JsonInput): ReceivedTensor {
  const isBinary = parameters.binary_data_size !== undefined;
  if ((data === undefined) !== isBinary && !(SHARED_MEMORY in parameters)) {
    throw invalidRequest(id, 'an input needs either data or the parameter binary_data_size');
  }
  // Data is flat or nested by its dimensions, but always in row-major order.
  const elements: unknown[] = (data ?? []).flat(MAX_NESTING - 1);
  const bytes = elements.filter((element) => typeof element === 'string').map((text) => Buffer.from(text));
  const booleans = elements.filter((element) => typeof element === 'boolean');
  const ofType = { BYTES: bytes.length, BOOL: booleans.length }[datatype];
  if (ofType !== undefined && ofType !== elements.length) {
    throw invalidRequest(id, 'the data of an input are not of its data type');
  }
  const hasOthers = bytes.length + booleans.length < elements.length;
  const contents = { booleans, bytes, longs: [], hasOthers };
  return { name, datatype, shape, parameters: Object.keys(parameters), contents };
}
