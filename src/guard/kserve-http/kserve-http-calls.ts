import type { z } from 'zod';
import { httpFailed, unreadableReply } from '../faults/classify.ts';
import type { HttpClient, HttpReply } from '../http/http-client.ts';
import {
  type KserveCalls,
  MAX_CONFIG_REPLY_BYTES,
  MAX_READINESS_REPLY_BYTES,
} from '../kserve/kserve-calls.ts';
import type { CallOptions } from '../protocol/connection.ts';
import {
  type InferRequest,
  type InferResponse,
  MODEL_NAME,
  type WireModelConfig,
  type WireModelMetadata,
} from '../tensors/protocol.ts';
import { binaryInferMessage, JSON_LENGTH_HEADER, jsonInferMessage } from './infer-body.ts';
import { readInferReply } from './infer-reply.ts';
import { MODEL_CONFIG, MODEL_METADATA, parseJson, READINESS, SERVER_METADATA } from './model-json.ts';

const MODEL_PATH = `/v2/models/${MODEL_NAME}`;

/** Name of the binary tensor data extension in a server's metadata. */
const BINARY_EXTENSION = 'binary_tensor_data';

/** Statuses of a path that the server does not have, or does not implement. */
const ABSENT: ReadonlySet<number> = new Set([404, 405, 501]);

/** Statuses of a server or a model that is not ready: Triton and MLServer answer 400, the KServe SDK 503. */
const NOT_READY: ReadonlySet<number> = new Set([400, 503]);

/** The calls of the KServe v2 protocol over HTTP. */
export class KserveHttpCalls implements KserveCalls {
  readonly metadataCall = `GET ${MODEL_PATH}`;
  /** Null because the protocol has streams over gRPC only. */
  readonly stream = null;
  readonly #client: HttpClient;
  /** Whether the server supports binary tensors. Known once it is ready. */
  #isBinary = false;

  constructor(client: HttpClient) {
    this.#client = client;
  }

  /** Also reads the extensions of a ready server. */
  async serverReady(options: CallOptions): Promise<boolean> {
    const reply = await this.#get('/v2/health/ready', MAX_READINESS_REPLY_BYTES, options);
    if (NOT_READY.has(reply.status)) return false;
    if (!saysReady(requireSuccess(reply, 'server'))) return false;
    this.#isBinary = await this.#hasBinaryExtension(options);
    return true;
  }

  async modelReady(options: CallOptions): Promise<boolean> {
    const reply = await this.#get(`${MODEL_PATH}/ready`, MAX_READINESS_REPLY_BYTES, options);
    return saysReady(requireSuccess(reply, 'model'));
  }

  async modelConfig(options: CallOptions): Promise<WireModelConfig | null> {
    const reply = await this.#get(`${MODEL_PATH}/config`, MAX_CONFIG_REPLY_BYTES, options);
    return ABSENT.has(reply.status) ? null : jsonIn(MODEL_CONFIG, requireSuccess(reply, 'model'));
  }

  async modelMetadata(options: CallOptions): Promise<WireModelMetadata> {
    const reply = await this.#get(MODEL_PATH, MAX_CONFIG_REPLY_BYTES, options);
    return jsonIn(MODEL_METADATA, requireSuccess(reply, 'model'));
  }

  async infer(request: InferRequest, maxReplyBytes: number, options: CallOptions): Promise<InferResponse> {
    const message = this.#isBinary ? binaryInferMessage(request) : jsonInferMessage(request);
    const path = `${MODEL_PATH}/infer`;
    const reply = await this.#client.send({ method: 'POST', path, ...message, maxReplyBytes }, options);
    const { headers, body } = requireSuccess(reply, 'model');
    const jsonLength = headers[JSON_LENGTH_HEADER];
    const response = body && readInferReply(body, typeof jsonLength === 'object' ? '' : jsonLength);
    if (response === null) throw unreadableReply();
    return response;
  }

  async #hasBinaryExtension(options: CallOptions): Promise<boolean> {
    const reply = await this.#get('/v2', MAX_CONFIG_REPLY_BYTES, options);
    if (ABSENT.has(reply.status)) return false;
    return jsonIn(SERVER_METADATA, requireSuccess(reply, 'server')).extensions.includes(BINARY_EXTENSION);
  }

  #get(path: string, maxReplyBytes: number, options: CallOptions): Promise<HttpReply> {
    return this.#client.send({ method: 'GET', path, maxReplyBytes }, options);
  }
}

/** Returns the reply if its status is 2xx; otherwise throws the fault. */
function requireSuccess(reply: HttpReply, about: 'server' | 'model'): HttpReply {
  if (reply.status >= 200 && reply.status <= 299) return reply;
  throw httpFailed({ ...reply, about });
}

function saysReady({ body }: HttpReply): boolean {
  return (body && parseJson(READINESS, body)?.ready) ?? true;
}

function jsonIn<T>(shape: z.ZodType<T>, { body }: HttpReply): T {
  const value = body && parseJson(shape, body);
  if (value === null) throw unreadableReply();
  return value;
}
