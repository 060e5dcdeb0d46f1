import type {
  handleUnaryCall,
  ServerUnaryCall,
  ServiceDefinition,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';
import type { InferResponse } from '../../guard/tensors/protocol.ts';
import { loadService } from '../../guard/tensors/service.ts';
import type { ModerationStreams } from '../../http/streams/moderation-streams.ts';
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

interface RepositoryModelRequest {
  readonly repository_name: string;
  readonly model_name: string;
  readonly parameters: Readonly<Record<string, object>>;
}

/**
 * The definition of `inference.GRPCInferenceService`. Its handlers decode inference requests themselves, so a malformed
 * one is INVALID_ARGUMENT; grpc-js would answer INTERNAL.
 */
export function inferenceDefinition(): ServiceDefinition {
  const service = { ...loadService() };
  for (const rpc of ['ModelInfer', 'ModelStreamInfer']) {
    service[rpc] = { ...service[rpc]!, requestDeserialize: (message: Buffer) => message };
  }
  return service;
}

/**
 * The handlers of `inference.GRPCInferenceService`. Calls without a handler end with UNIMPLEMENTED, which names the
 * method.
 */
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
    RepositoryModelLoad: unary(async (request: RepositoryModelRequest) => {
      await repository.load(toRepositoryRequest(request));
      return {};
    }),
    RepositoryModelUnload: unary(async (request: RepositoryModelRequest) => {
      await repository.unload(toRepositoryRequest(request));
      return {};
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

function toRepositoryRequest(request: RepositoryModelRequest): RepositoryRequest {
  const { repository_name: repository, model_name: model, parameters } = request;
  return { repository, model, parameters: Object.keys(parameters) };
}
