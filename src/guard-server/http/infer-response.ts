import type { FastifyReply } from 'fastify';
import { MODEL_NAME } from '../../guard/tensors/protocol.ts';
import { decodeBooleans, decodeBytes, decodeFloats, decodeInts } from '../../guard/tensors/raw.ts';
import type { OutputTensor, ModelReply } from '../contract/model.ts';
import type { InferCall } from './infer-request.ts';

/**
 * Sends the reply to an inference request: JSON, followed by the raw contents of the outputs requested as binary data,
 * in the order of the outputs.
 */
export function sendVerdicts(
  response: FastifyReply,
  { request, isBinary }: InferCall,
  reply: Extract<ModelReply, { error: null }>,
): FastifyReply {
  const { id } = request;
  const json = Buffer.from(
    JSON.stringify({
      ...(id === '' ? {} : { id }),
      model_name: MODEL_NAME,
      model_version: reply.modelVersion,
      outputs: reply.outputs.map((tensor) => ({
        name: tensor.name,
        datatype: tensor.datatype,
        shape: tensor.shape,
        ...(isBinary(tensor.name)
          ? { parameters: { binary_data_size: tensor.raw.length } }
          : { data: dataOf(tensor) }),
      })),
    }),
  );
  const binary = reply.outputs.filter(({ name }) => isBinary(name));
  if (binary.length === 0) return response.type('application/json').send(json);
  return response
    .type('application/octet-stream')
    .header('inference-header-content-length', json.length)
    .send(Buffer.concat([json, ...binary.map(({ raw }) => raw)]));
}

/**
 * The elements of a tensor for JSON, in row-major order: strings, booleans or numbers. JSON.stringify writes NaN, which
 * JSON cannot represent, as null.
 */
function dataOf({ datatype, raw }: OutputTensor): readonly (string | boolean | number)[] {
  switch (datatype) {
    case 'FP32':
      return [...decodeFloats(raw)!];
    case 'INT32':
      return [...decodeInts(raw)!];
    case 'BOOL':
      return decodeBooleans(raw)!;
    default:
      return decodeBytes(raw)!.map((element) => element.toString());
  }
}
