import { expect } from 'vitest';
import { elementsOf, type TestTensor } from './guard-client.ts';

/** The bodies of inference requests and replies over HTTP, for tests that look at the wire itself. */

/** A request with raw contents, and the other members of its JSON. */
export function binaryBody(tensors: readonly TestTensor[], rest: object = {}) {
  const inputs = tensors.map(({ raw, ...tensor }) => {
    return { ...tensor, parameters: { binary_data_size: raw.length } };
  });
  const text = Buffer.from(JSON.stringify({ ...rest, inputs }));
  const headers = {
    'content-type': 'application/octet-stream',
    'inference-header-content-length': String(text.length),
  };
  return { headers, body: Buffer.concat([text, ...tensors.map(({ raw }) => raw)]) };
}

export interface HttpReply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The JSON of the reply, or of its head; null: there is none. */
  readonly json: ReplyJson | null;
  /** What follows the JSON. */
  readonly binary: Buffer;
}

export interface ReplyJson {
  readonly error?: string;
  readonly outputs?: readonly ReplyTensor[];
}

export interface ReplyTensor {
  readonly name: string;
  readonly datatype: string;
  readonly shape: readonly number[];
  readonly data?: readonly (number | boolean | string | null)[];
  readonly parameters?: { readonly binary_data_size: number };
}

export async function replyOf(response: Response): Promise<HttpReply> {
  const bytes = Buffer.from(await response.arrayBuffer());
  const length = Number(response.headers.get('inference-header-content-length') ?? bytes.length);
  const text = bytes.toString('utf8', 0, length);
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: text === '' ? null : (JSON.parse(text) as ReplyJson),
    binary: bytes.subarray(length),
  };
}

/**
 * The elements of each output, from the JSON or from the binary data behind it. Numbers are single-precision ones, which
 * tensors hold.
 */
export function outputsOf({ json, binary }: HttpReply): Record<string, readonly unknown[]> {
  let at = 0;
  const elements = ({ datatype, data, parameters }: ReplyTensor): readonly unknown[] =>
    data?.map((value) => (typeof value === 'number' ? Math.fround(value) : value)) ??
    elementsOf(datatype, binary.subarray(at, (at += parameters!.binary_data_size)));
  const outputs = (json!.outputs ?? []).map((tensor) => [tensor.name, elements(tensor)] as const);
  expect(at).toBe(binary.length);
  return Object.fromEntries(outputs);
}
