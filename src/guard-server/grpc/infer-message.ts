import { MODEL_NAME, type InferResponse } from '../../guard/tensors/protocol.ts';
import { decodeInferRequest } from '../../guard/tensors/service.ts';
import { MalformedMessage, type ReceivedRequest } from '../../guard/tensors/wire/infer-messages.ts';
import type { ModelReply } from '../contract/model.ts';
import { invalidRequest } from '../contract/request-error.ts';

/** Max length of a request id, in UTF-16 code units: replies carry it, and streams keep it. */
const MAX_ID = 4096;

/** Decodes a ModelInferRequest. Throws RequestError: INVALID_REQUEST for a malformed message, or a longer id. */
export function readInferRequest(message: Buffer): ReceivedRequest {
  const request = decoded(message);
  if (request.id.length > MAX_ID)
    throw invalidRequest('', `the request id has more than ${MAX_ID} characters`);
  return request;
}

function decoded(message: Buffer): ReceivedRequest {
  try {
    return decodeInferRequest(message);
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error;
    throw invalidRequest('', 'the request is not well formed');
  }
}

/** The ModelInferResponse of a reply with tensors. */
export function inferResponse(id: string, reply: Extract<ModelReply, { error: null }>): InferResponse {
  return {
    model_name: MODEL_NAME,
    model_version: reply.modelVersion,
    id,
    outputs: reply.outputs.map(({ name, datatype, shape }) => ({ name, datatype, shape })),
    raw_output_contents: reply.outputs.map(({ raw }) => raw),
  };
}
