import { z } from 'zod';
import type { InferResponse } from '../tensors/protocol.ts';
import { encodeBooleans, encodeFloats, encodeInts, encodeStrings } from '../tensors/raw.ts';
import { parseJson } from './model-json.ts';

/** Max dimensions of nested data in a valid reply. The contract's outputs have up to two. */
const MAX_DIMENSIONS = 4;
const INT32_LIMIT = 2 ** 31;

const inferReply = z.object({
  id: z.string().nullish(),
  model_version: z.string().nullish(),
  outputs: z.array(
    z.object({
      name: z.string(),
      datatype: z.string(),
      shape: z.array(z.int()),
      parameters: z.object({ binary_data_size: z.int().nonnegative().optional() }).nullish(),
      data: z.array(z.unknown()).nullish(),
    }),
  ),
});

/**
 * Reads the reply to an inference request, with the contents of its outputs in raw form (tensors/raw.ts); null if it is
 * malformed. Contents follow the JSON as binary data, or are in it, flat or nested by their dimensions; null in JSON is
 * NaN. `jsonLength` is the header JSON_LENGTH_HEADER; undefined if the whole body is JSON.
 */
export function readInferReply(body: Buffer, jsonLength: string | undefined): InferResponse | null {
  const end = jsonLength === undefined ? body.length : lengthIn(jsonLength);
  if (end === null || end > body.length) return null;
  const reply = parseJson(inferReply, body.subarray(0, end));
  if (reply === null) return null;
  const contents: Buffer[] = [];
  let at = end;
  for (const { datatype, parameters, data } of reply.outputs) {
    const size = parameters?.binary_data_size;
    if (size === undefined) {
      const raw = data == null ? null : rawOf(datatype, data.flat(MAX_DIMENSIONS - 1));
      if (raw === null) return null;
      contents.push(raw);
    } else {
      contents.push(body.subarray(at, at + size));
      at += size;
    }
  }
  if (at !== body.length) return null;
  return {
    model_name: '',
    model_version: reply.model_version ?? '',
    id: reply.id ?? '',
    outputs: reply.outputs.map(({ name, datatype, shape }) => ({ name, datatype, shape })),
    raw_output_contents: contents,
  };
}

function lengthIn(header: string): number | null {
  return /^\d{1,9}$/.test(header) ? Number(header) : null;
}

/** Encodes data; null when an element is not of the data type. Empty for data types that are not in the contract. */
function rawOf(datatype: string, data: readonly unknown[]): Buffer | null {
  switch (datatype) {
    case 'FP32':
      return data.every(isFloat) ? encodeFloats(data.map((value) => value ?? Number.NaN)) : null;
    case 'INT32':
      return data.every(isInt32) ? encodeInts(data) : null;
    case 'BOOL':
      return data.every((value) => typeof value === 'boolean') ? encodeBooleans(data) : null;
    case 'BYTES':
      return data.every((value) => typeof value === 'string') ? encodeStrings(data) : null;
    default:
      return Buffer.alloc(0);
  }
}

function isFloat(value: unknown): value is number | null {
  return value === null || typeof value === 'number';
}

function isInt32(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= -INT32_LIMIT && Number(value) < INT32_LIMIT;
}
