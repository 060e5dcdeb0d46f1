import type { HttpBody } from '../http/http-client.ts';
import type { InferRequest } from '../tensors/protocol.ts';
import { decodeBooleans, decodeBytes } from '../tensors/raw.ts';

/** Header with the length of the JSON before the binary data, in bytes. */
export const JSON_LENGTH_HEADER = 'inference-header-content-length';

interface InferMessage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: HttpBody;
}

/**
 * Builds an inference request with the binary tensor data extension: JSON, then the raw contents of the inputs, in
 * their order (Triton, docs/protocol/extension_binary_data.md). All outputs are requested in the same form.
 */
export function binaryInferMessage({ id, inputs, raw_input_contents: raw }: InferRequest): InferMessage {
  const json = Buffer.from(
    JSON.stringify({
      id,
      parameters: { binary_data_output: true },
      inputs: inputs.map((input, index) => ({
        ...input,
        parameters: { binary_data_size: raw[index]!.length },
      })),
    }),
  );
  return {
    headers: { [JSON_LENGTH_HEADER]: String(json.length) },
    body: { contentType: 'application/octet-stream', chunks: [json, ...raw] },
  };
}

/** Builds an inference request in JSON only, for a server without that extension. */
export function jsonInferMessage({ id, inputs, raw_input_contents: raw }: InferRequest): InferMessage {
  const json = JSON.stringify({
    id,
    inputs: inputs.map((input, index) => ({ ...input, data: dataOf(input.datatype, raw[index]!) })),
  });
  return { headers: {}, body: { contentType: 'application/json', chunks: [Buffer.from(json)] } };
}

/** The elements of an input; the inputs of the contract are BYTES or BOOL. */
function dataOf(datatype: string, raw: Buffer): readonly (string | boolean)[] {
  return datatype === 'BOOL'
    ? decodeBooleans(raw)!
    : decodeBytes(raw)!.map((element) => element.toString('utf8'));
}
