import { createRequire } from 'node:module';
import {
  status,
  type handleUnaryCall,
  type ServerUnaryCall,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import type { InferRequest, InferResponse } from '../guard/tensors/protocol.ts';
import { checkToken } from './access.ts';
import { MODEL_NAME, modelConfig, modelMetadata, type Serving } from './definition.ts';
import { type Batcher, queueFull } from './dynamic-batcher.ts';
import type { Model, Reply } from './model.ts';
import { RequestError, unavailable } from './request-error.ts';
import { checkModel, readTensors } from './tensor-request.ts';

/** What the RPCs are answered from. */
export interface Served {
  readonly model: Model;
  readonly serving: Serving;
  readonly batcher: Batcher;
  /** Needed by every call; null: none is. */
  readonly token: string | null;
  isReady(): boolean;
  /** Asked once for each inference request. */
  isOverloaded(): boolean;
}

interface ModelRef {
  readonly name: string;
  readonly version: string;
}

/** The handlers of `inference.GRPCInferenceService`. */
export function inferenceService(served: Served): UntypedServiceImplementation {
  const { model, serving } = served;
  const { version } = createRequire(import.meta.url)('#package.json') as { version: string };
  const unary = <Request, Response>(
    answer: (request: Request) => Response,
  ): handleUnaryCall<Request, Response> => {
    return (call, callback) => {
      try {
        if (served.token !== null) checkToken(call.metadata, served.token);
        callback(null, answer(call.request));
      } catch (error) {
        callback(toStatus(error));
      }
    };
  };
  const aboutModel = (answer: () => object): handleUnaryCall<ModelRef, object> =>
    unary((request) => {
      checkModel(request.name, request.version, model.version, '');
      return answer();
    });

  return {
    ServerLive: unary(() => ({ live: true })),
    ServerReady: unary(() => ({ ready: served.isReady() })),
    ModelReady: unary(({ name, version: asked }: ModelRef) => ({
      ready: served.isReady() && name === MODEL_NAME && (asked === '' || asked === model.version),
    })),
    ServerMetadata: unary(() => ({ name: 'guardsweep', version, extensions: ['model_configuration'] })),
    ModelMetadata: aboutModel(() => modelMetadata(serving, model.version)),
    ModelConfig: aboutModel(() => ({ config: modelConfig(serving) })),
    ModelInfer: infer(served),
  };
}

function infer(served: Served): handleUnaryCall<InferRequest, InferResponse> {
  return (call: ServerUnaryCall<InferRequest, InferResponse>, callback) => {
    try {
      const { id } = call.request;
      if (served.token !== null) checkToken(call.metadata, served.token);
      if (!served.isReady()) throw unavailable(id, 'server not ready');
      const request = readTensors(call.request, served.serving.maxBatchSize, served.model.version);
      if (served.isOverloaded()) throw unavailable(id, queueFull());
      const withdraw = served.batcher.submit(request, (reply) => {
        if (call.cancelled) return;
        if (reply.error === null) callback(null, toResponse(id, reply));
        else callback(toStatus(reply.error));
      });
      call.once('cancelled', withdraw);
    } catch (error) {
      callback(toStatus(error));
    }
  };
}

function toResponse(id: string, reply: Extract<Reply, { error: null }>): InferResponse {
  return {
    model_name: MODEL_NAME,
    model_version: reply.modelVersion,
    id,
    outputs: reply.outputs.map(({ name, datatype, shape }) => ({ name, datatype, shape })),
    raw_output_contents: reply.outputs.map(({ raw }) => raw),
  };
}

/** The status of a call that failed; of an error that is not one of ours, the text stays here. */
function toStatus(error: unknown): { code: status; details: string } {
  if (error instanceof RequestError) return { code: error.status, details: error.message };
  return { code: status.INTERNAL, details: 'the server failed on this request' };
}
