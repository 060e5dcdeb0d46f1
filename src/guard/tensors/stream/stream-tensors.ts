import { isUtf8 } from 'node:buffer';
import type { TensorLayout } from '../encode-request.ts';
import { type InferRequest, type InferResponse, MODEL_NAME, type WireTensor } from '../protocol.ts';
import {
  decodeBooleans,
  decodeBytes,
  decodeFloats,
  encodeBooleans,
  encodeFloats,
  encodeStrings,
} from '../raw.ts';
import type { ReceivedRequest, ReceivedTensor } from '../wire/infer-messages.ts';
import {
  CADENCE_NAMES,
  InvalidStreamMessage,
  parseRequest,
  parseVerdict,
  requestFields,
  type StreamRequest,
  type StreamVerdict,
  verdictFields,
} from './stream-messages.ts';

/**
 * The messages of a moderation stream as tensors of ModelStreamInfer. Every tensor holds one element, of shape [1,1] if
 * the model batches, otherwise [1]. Omitted fields have no tensor.
 */

type Datatype = 'BYTES' | 'INT64' | 'FP32' | 'BOOL';
type TensorField = readonly [name: string, field: string, datatype: Datatype];

/** TEXT is the prompt. The cadence is a request parameter, an int64. */
const REQUEST_TENSORS: readonly TensorField[] = [
  ['STREAM_ID', 'stream_id', 'BYTES'],
  ['SEQ', 'seq', 'INT64'],
  ['TEXT', 'prompt', 'BYTES'],
  ['TEXT_CHUNK', 'response_chunk', 'BYTES'],
  ['END_OF_STREAM', 'end_of_stream', 'BOOL'],
];

const VERDICT_TENSORS: readonly TensorField[] = [
  ['PROCESSED_UNTIL_SEQ', 'processed_until_seq', 'INT64'],
  ['FLAGGED', 'flagged', 'BOOL'],
  ['NEEDS_CAUTION', 'needs_caution', 'BOOL'],
  ['SCORE', 'score', 'FP32'],
  ['LATENCY_MS', 'latency_ms', 'FP32'],
  ['IS_FINAL', 'is_final', 'BOOL'],
];

/** Whether a message of ModelStreamInfer belongs to a moderation stream rather than ordinary streamed inference. */
export function isStreamRequest({ inputs }: ReceivedRequest): boolean {
  return inputs.some(({ name }) => name !== 'TEXT' && REQUEST_TENSORS.some(([known]) => known === name));
}

export function encodeStreamRequest(request: StreamRequest, layout: TensorLayout): InferRequest {
  const { cadence } = request;
  const { tensors, raw } = encode(REQUEST_TENSORS, requestFields(request), layout);
  return {
    model_name: MODEL_NAME,
    model_version: '',
    id: '',
    parameters: cadence === null ? {} : { [CADENCE_NAMES[cadence.unit]]: { int64_param: cadence.every } },
    inputs: tensors,
    raw_input_contents: raw,
  };
}

/** Reads a client's message, with raw or typed contents; only SEQ is required. Throws InvalidStreamMessage. */
export function decodeStreamRequest({
  inputs,
  raw_input_contents,
  parameters,
}: ReceivedRequest): StreamRequest {
  const isKnown = ({ name }: ReceivedTensor): boolean => REQUEST_TENSORS.some(([known]) => known === name);
  if (!inputs.every(isKnown))
    throw new InvalidStreamMessage('an input does not belong to a moderation stream');
  // A double, which is received as null, is not a missing value.
  const values = [...parameters].map(([name, value]) => [name, value ?? Number.NaN] as const);
  return parseRequest({
    ...Object.fromEntries(values),
    ...decode(REQUEST_TENSORS, inputs, raw_input_contents, typedElements),
  });
}

export function encodeStreamVerdict(
  verdict: StreamVerdict,
  layout: TensorLayout,
): Pick<InferResponse, 'outputs' | 'raw_output_contents'> {
  const { tensors, raw } = encode(VERDICT_TENSORS, verdictFields(verdict), layout);
  return { outputs: tensors, raw_output_contents: raw };
}

/** Reads a verdict; only SCORE may be missing, and other outputs are ignored. Throws InvalidStreamMessage. */
export function decodeStreamVerdict({ outputs, raw_output_contents }: InferResponse): StreamVerdict {
  return parseVerdict(decode(VERDICT_TENSORS, outputs, raw_output_contents));
}

function encode(
  table: readonly TensorField[],
  fields: Readonly<Record<string, unknown>>,
  { batched }: TensorLayout,
): { readonly tensors: WireTensor[]; readonly raw: Buffer[] } {
  const present = table.filter(([, field]) => fields[field] !== undefined);
  const shape = batched ? [1, 1] : [1];
  return {
    tensors: present.map(([name, , datatype]) => ({ name, datatype, shape })),
    raw: present.map(([, field, datatype]) => encodeElement(datatype, fields[field])),
  };
}

function encodeElement(datatype: Datatype, value: unknown): Buffer {
  switch (datatype) {
    case 'BYTES':
      return encodeStrings([value as string]);
    case 'FP32':
      return encodeFloats([value as number]);
    case 'BOOL':
      return encodeBooleans([value as boolean]);
    case 'INT64': {
      const raw = Buffer.allocUnsafe(8);
      raw.writeBigInt64LE(BigInt(value as number));
      return raw;
    }
  }
}

/** Decodes the fields of the tensors in the table; other tensors are ignored. Throws InvalidStreamMessage. */
function decode<T extends Pick<WireTensor, 'name' | 'datatype' | 'shape'>>(
  table: readonly TensorField[],
  tensors: readonly T[],
  raws: readonly Buffer[],
  typed: (tensor: T) => readonly unknown[] = () => [],
): Record<string, unknown> {
  if (raws.length > 0 && raws.length !== tensors.length)
    throw new InvalidStreamMessage('tensors and their contents differ in number');
  const fields: Record<string, unknown> = {};
  for (const [index, tensor] of tensors.entries()) {
    const known = table.find(([name]) => name === tensor.name);
    if (known === undefined) continue;
    const [name, field, datatype] = known;
    if (Object.hasOwn(fields, field)) throw new InvalidStreamMessage(`${name} is given more than once`);
    const raw = raws[index];
    const hasShape = [1, 2].includes(tensor.shape.length) && tensor.shape.every((size) => size === 1);
    const elements: ArrayLike<unknown> | null =
      raw === undefined ? typed(tensor) : decodeElements(datatype, raw);
    if (tensor.datatype !== datatype || !hasShape || elements?.length !== 1)
      throw new InvalidStreamMessage(`${name} is not one element of ${datatype}`);
    const value = elements[0];
    if (Buffer.isBuffer(value) && !isUtf8(value)) throw new InvalidStreamMessage(`${name} is not UTF-8`);
    fields[field] = Buffer.isBuffer(value) ? value.toString() : value;
  }
  return fields;
}

/** Decodes elements; null if the contents are malformed. */
function decodeElements(datatype: Datatype, raw: Buffer): ArrayLike<unknown> | null {
  switch (datatype) {
    case 'BYTES':
      return decodeBytes(raw);
    case 'FP32':
      return decodeFloats(raw);
    case 'BOOL':
      return decodeBooleans(raw);
    case 'INT64':
      return raw.length === 8 ? [Number(raw.readBigInt64LE())] : null;
  }
}

function typedElements({ datatype, contents }: ReceivedTensor): readonly unknown[] {
  if (datatype === 'INT64') return contents.longs;
  return datatype === 'BOOL' ? contents.booleans : contents.bytes;
}
