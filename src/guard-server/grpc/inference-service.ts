import type { handleUnaryCall, ServerUnaryCall, UntypedServiceImplementation } from '@grpc/grpc-js';
import type { InferResponse } from '../../guard/tensors/protocol.ts';
import { loadService } from '../../guard/tensors/service.ts';
import type { ModerationStreams } from '../../http/streams/moderation-streams.ts';
import { invalidRequest, RequestError } from '../contract/request-error.ts';
import type { GuardService } from '../service/guard-service.ts';
import type { RepositoryRequest } from '../service/model-repository.ts';
import { inferResponse, readInferRequest } from './infer-message.ts';
import { statusOf } from './status.ts';
import { streamInfer } from './stream-infer.ts';

interface ModelRef {
  readonly name: string;
  readonly version: string;
}

interface IndexRequest {
  readonly repository_name: string;
  readonly ready: boolean;
}

/** The handlers of `inference.GRPCInferenceService`. Requests of some RPCs arrive undecoded (infer-definition.ts). */
export function inferenceService(
  service: GuardService,
  streams: ModerationStreams,
): UntypedServiceImplementation {
  const { repository } = service;
  return {
    ServerLive: unary(() => ({ live: service.isLive() })),
    ServerReady: unary(() => ({ ready: service.isReady() })),
    ModelReady: unary(({ name, version }: ModelRef) => ({ ready: service.isModelReady(name, version) })),
    ServerMetadata: unary(() => service.serverMetadata()),
    ModelMetadata: unary(({ name, version }: ModelRef) => service.modelMetadata(name, version)),
    ModelConfig: unary(({ name, version }: ModelRef) => ({ config: service.modelConfig(name, version) })),
    ModelInfer: modelInfer(service),
    ModelStatistics: unary(({ name, version }: ModelRef) => ({
      model_stats: service.modelStatistics(name, version),
    })),
    ModelStreamInfer: streamInfer(service, streams),
    RepositoryIndex: unary(({ repository_name, ready }: IndexRequest) => ({
      models: repository.index(repository_name, ready),
    })),
    RepositoryModelLoad: unary(async (message: Buffer) => {
      await repository.load(readRepositoryRequest(message));
      return {};
    }),
    RepositoryModelUnload: unary(async (message: Buffer) => {
      await repository.unload(readRepositoryRequest(message));
      return {};
    }),
    TraceSetting: unary(() => {
      throw new RequestError('NOT_SUPPORTED', 'this server does not trace requests');
    }),
    LogSettings: unary(() => {
      throw new RequestError('NOT_SUPPORTED', 'the logging of this server cannot be changed');
    }),
  };
}

function unary<Request, Response>(
  answer: (request: Request) => Response | Promise<Response>,
): handleUnaryCall<Request, Response> {
  const reply: (...call: Parameters<handleUnaryCall<Request, Response>>) => Promise<void> = async (
    call,
    callback,
  ) => {
    let response;
    try {
      response = await answer(call.request);
    } catch (error) {
      callback(statusOf(error));
      return;
    }
    if (!call.cancelled) callback(null, response);
  };
  return (call, callback) => void reply(call, callback);
}

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

/** Max bytes of a message: it holds two names, and a parameter or two. */
const MAX_BYTES = 16 * 1024;

interface DecodedRequest {
  readonly repository_name: string;
  readonly model_name: string;
  readonly parameters: Readonly<Record<string, object>>;
}

/**
 * Decodes a RepositoryModelLoadRequest or RepositoryModelUnloadRequest, whose fields are the same. Throws RequestError:
 * INVALID_REQUEST for a malformed message, and for one with more than MAX_BYTES.
 */
function readRepositoryRequest(message: Buffer): RepositoryRequest {
  const decoded = message.length <= MAX_BYTES ? decode(message) : null;
  if (decoded === null) {
    throw invalidRequest('', 'the request is not well formed, or holds too many parameters');
  }
  const { repository_name: repository, model_name: model, parameters } = decoded;
  return { repository, model, parameters: Object.keys(parameters) };
}

/** Null for a malformed message. */
function decode(message: Buffer): DecodedRequest | null {
  try {
    return loadService()['RepositoryModelLoad']!.requestDeserialize(message) as DecodedRequest;
  } catch {
    // The error is dropped: its text could quote the message.
    return null;
  }
}
