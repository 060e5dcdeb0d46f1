import type { handleUnaryCall, ServerUnaryCall, UntypedServiceImplementation } from '@grpc/grpc-js';
import type { InferResponse } from '../../guard/tensors/protocol.ts';
import type { GuardService } from '../service/guard-service.ts';
import { inferResponse, readInferRequest } from './infer-message.ts';
import { statusOf } from './status.ts';

interface ModelRef {
  readonly name: string;
  readonly version: string;
}

/** The handlers of `inference.GRPCInferenceService`. */
export function inferenceService(service: GuardService): UntypedServiceImplementation {
  return {
    ServerLive: unary(() => ({ live: service.isLive() })),
    ServerReady: unary(() => ({ ready: service.isReady() })),
    ModelReady: unary(({ name, version }: ModelRef) => ({ ready: service.isModelReady(name, version) })),
    ServerMetadata: unary(() => service.serverMetadata()),
    ModelMetadata: unary(({ name, version }: ModelRef) => service.modelMetadata(name, version)),
    ModelConfig: unary(({ name, version }: ModelRef) => ({ config: service.modelConfig(name, version) })),
    ModelInfer: modelInfer(service),
  };
}

function unary<Request, Response>(
  answer: (request: Request) => Response,
): handleUnaryCall<Request, Response> {
  return (call, callback) => {
    try {
      callback(null, answer(call.request));
    } catch (error) {
      callback(statusOf(error));
    }
  };
}

/** The request is the undecoded message (infer-definition.ts). */
function modelInfer(service: GuardService): handleUnaryCall<Buffer, InferResponse> {
  return (call: ServerUnaryCall<Buffer, InferResponse>, callback) => {
    try {
      const received = readInferRequest(call.request);
      const withdraw = service.infer(received, (reply) => {
        if (call.cancelled) return;
        if (reply.error === null) callback(null, inferResponse(received.id, reply));
        else callback(statusOf(reply.error));
      });
      call.once('cancelled', withdraw);
    } catch (error) {
      callback(statusOf(error));
    }
  };
}
