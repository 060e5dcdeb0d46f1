import type { ServiceDefinition } from '@grpc/grpc-js';
import { loadProtoService } from './proto-service.ts';
import type { InferResponse } from './protocol.ts';
import {
  type DecodedRequest,
  type DecodedResponse,
  inferResponse,
  MalformedMessage,
  type ReceivedRequest,
  receivedRequest,
} from './wire/infer-messages.ts';

let loaded: ServiceDefinition | undefined;

/**
 * Loads the definition of the service `inference.GRPCInferenceService` of KServe v2, for a client or a server. Reads
 * the proto files of this package once. A ModelInfer reply is decoded by `decodeInferResponse`.
 */
export function loadService(): ServiceDefinition {
  return {
    ...library(),
    ModelInfer: { ...library()['ModelInfer']!, responseDeserialize: decodeInferResponse },
  };
}

/** Decodes a ModelInferRequest. Throws MalformedMessage. */
export function decodeInferRequest(message: Buffer): ReceivedRequest {
  return receivedRequest(
    decodeSafely(() => library()['ModelInfer']!.requestDeserialize(message) as DecodedRequest),
  );
}

/** Decodes a ModelInferResponse. Throws MalformedMessage, also for one with both raw and typed contents. */
export function decodeInferResponse(message: Buffer): InferResponse {
  return inferResponse(
    decodeSafely(() => library()['ModelInfer']!.responseDeserialize(message) as DecodedResponse),
  );
}

/** A reply on a stream: a response, or an error. */
interface StreamReply {
  /** Empty if there is no error. */
  readonly errorMessage: string;
  readonly response: InferResponse | null;
}

/** Like `decodeInferResponse`, for a ModelStreamInferResponse. */
export function decodeStreamInferResponse(message: Buffer): StreamReply {
  const reply = decodeSafely(
    () =>
      library()['ModelStreamInfer']!.responseDeserialize(message) as {
        readonly error_message: string;
        readonly infer_response: DecodedResponse | null;
      },
  );
  const { error_message: errorMessage, infer_response: response } = reply;
  return { errorMessage, response: response && inferResponse(response) };
}

/** Drops the library's error: its text could quote the message. */
function decodeSafely<T>(decode: () => T): T {
  try {
    return decode();
  } catch {
    throw new MalformedMessage('not a message of this kind');
  }
}

function library(): ServiceDefinition {
  loaded ??= loadProtoService('grpc_service.proto', 'inference.GRPCInferenceService');
  return loaded;
}
