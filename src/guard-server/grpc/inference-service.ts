import { createRequire } from 'node:module';
import type { handleUnaryCall, ServerUnaryCall, UntypedServiceImplementation } from '@grpc/grpc-js';
import { MODEL_NAME, type InferResponse } from '../../guard/tensors/protocol.ts';
import { MalformedMessage } from '../../guard/tensors/wire/field-reader.ts';
import { decodeInferRequest, type ReceivedRequest } from '../../guard/tensors/wire/infer-messages.ts';
import { modelConfig, modelMetadata, type Serving } from '../contract/definition.ts';
import { type Batcher, queueFull } from '../batching/dynamic-batcher.ts';
import type { Model, Reply } from '../contract/model.ts';
import { invalidRequest, unavailable } from '../contract/request-error.ts';
import { checkModel, readTensors } from '../contract/tensor-request.ts';
import { statusOf } from './status.ts';

/** What the RPCs serve. */
interface Served {
  readonly model: Model;
  readonly serving: Serving;
  readonly batcher: Batcher;
  isReady(): boolean;
  /** Asked once per inference request. */
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
        callback(null, answer(call.request));
      } catch (error) {
        callback(statusOf(error));
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

/** The request is the undecoded message (infer-definition.ts). */
function infer(served: Served): handleUnaryCall<Buffer, InferResponse> {
  return (call: ServerUnaryCall<Buffer, InferResponse>, callback) => {
    try {
      const received = readMessage(call.request);
      const { id } = received;
      if (!served.isReady()) throw unavailable(id, 'server not ready');
      const request = readTensors(received, served.serving.maxBatchSize, served.model.version);
      if (served.isOverloaded()) throw unavailable(id, queueFull());
      const withdraw = served.batcher.submit(request, (reply) => {
        if (call.cancelled) return;
        if (reply.error === null) callback(null, toResponse(id, reply));
        else callback(statusOf(reply.error));
      });
      call.once('cancelled', withdraw);
    } catch (error) {
      callback(statusOf(error));
    }
  };
}

function readMessage(message: Buffer): ReceivedRequest {
  try {
    return decodeInferRequest(message);
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error;
    throw invalidRequest('', 'the request is not well formed, or holds too many values');
  }
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
