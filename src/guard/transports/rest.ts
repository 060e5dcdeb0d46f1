import { CombinedParts } from '../../domain/combined-parts.ts';
import type { AudioRequest, GuardRequest, ImageRequest, Modality } from '../../domain/request.ts';
import { AdaptiveConcurrency } from '../concurrency/concurrency.ts';
import { httpFailed } from '../faults/classify.ts';
import { answers, type HttpBody, type HttpClient } from '../http/http-client.ts';
import { type BaseAddress, type GuardEndpoint, parseBaseAddress } from '../protocol/address.ts';
import type { Answer } from '../protocol/answer.ts';
import { CallError } from '../protocol/call-error.ts';
import { HARMLESS_ROW } from '../protocol/canary.ts';
import type { CallOptions, OpenOptions, ReadyGuard } from '../protocol/connection.ts';
import { failsHarmlessText, notUsable } from '../protocol/not-usable.ts';
import { fileForm } from '../rest/multipart.ts';
import { decodeVerdict } from '../rest/rest-verdict.ts';
import type { RequestKind } from '../tensors/encode-request.ts';
import { connectHttp, type Transport } from './transport.ts';

/** Initial requests in flight. The capacity of such a guard is not known, and is found by trial. */
const INITIAL_IN_FLIGHT = 8;
const MIN_IN_FLIGHT = 2;
const MAX_IN_FLIGHT = 256;

/** Max size of a reply, in bytes. A verdict has a few hundred. */
const MAX_REPLY_BYTES = 256 * 1024;

/** Kinds without a path: the REST contract has paths for prompts only. */
const NOT_TAKEN: ReadonlySet<RequestKind> = new Set([
  'response',
  'response-with-prompt',
  'multiturn',
  'generation',
]);

/** A guard behind its REST endpoints: the managed one, or the self-hosted reference client (`guard_api.py`). */
export const REST: Transport = {
  kind: 'rest',
  schemes: ['http', 'https'],
  tokenVariable: 'GUARD_API_KEY',
  unversioned: 'REST',
  takes,
  hostOf: parse,
  connector: (endpoint) => connectHttp(parse(endpoint), MAX_IN_FLIGHT + 1, open),
};

function takes(requestKind: RequestKind): boolean {
  return !NOT_TAKEN.has(requestKind);
}

function parse(endpoint: GuardEndpoint): BaseAddress {
  return parseBaseAddress(endpoint, 'https://host or http://host:9000');
}

/** Opens a guard. REST has no readiness check, so the guard must judge a harmless text. */
async function open(
  client: HttpClient,
  { requestTimeoutMs, prove, signal }: OpenOptions,
): Promise<ReadyGuard> {
  try {
    const options = { timeoutMs: requestTimeoutMs, signal };
    if ((await judge(client, HARMLESS_ROW.request, options)) === null) {
      throw failsHarmlessText(prove, 'its reply to a harmless text is not a verdict');
    }
  } catch (error) {
    // A server with rate limits is still a guard: 429, or 503 with Retry-After.
    if (!(error instanceof CallError) || error.fault.kind !== 'rate') throw notUsable(error, { signal });
  }
  return {
    maxBatchSize: 0,
    instances: null,
    concurrency: new AdaptiveConcurrency({
      start: INITIAL_IN_FLIGHT,
      min: MIN_IN_FLIGHT,
      max: MAX_IN_FLIGHT,
      step: 1,
    }),
    takes,
    isReady: (options) => answers(client, pathOf('text'), options),
    judge: async ([row], options) => ({
      answers: [await judge(client, row!.request, options)],
      modelVersion: null,
    }),
    version: null,
    streams: null,
  };
}

async function judge(
  client: HttpClient,
  request: GuardRequest,
  options: CallOptions,
): Promise<Answer | null> {
  if (request.requestType !== 'prompt') throw new Error('not a request for REST');
  if (request.modality !== 'text') return judgeMedia(client, request, options);
  return judgeText(client, request.text, options);
}

function judgeText(client: HttpClient, text: string, options: CallOptions): Promise<Answer | null> {
  const chunks = [Buffer.from(JSON.stringify({ text }))];
  return post(client, 'text', { contentType: 'application/json', chunks }, options);
}

/** Judges media. REST has no field for a caption or transcript, so it is judged separately as text. */
async function judgeMedia(
  client: HttpClient,
  request: ImageRequest | AudioRequest,
  options: CallOptions,
): Promise<Answer | null> {
  const isImage = request.modality === 'image';
  const text = isImage ? request.caption : request.transcript;
  const ofText = text === null ? null : await judgeText(client, text, options);
  if (text !== null && ofText === null) return null;
  const bytes = isImage ? request.image : request.audio;
  const ofFile = await post(client, request.modality, fileForm(bytes), options);
  if (ofFile === null || ofText === null) return ofFile;
  const parts = new CombinedParts<Answer>();
  parts.add(ofFile);
  parts.add(ofText);
  return parts.combined;
}

/** Posts content; null if the reply is not a verdict. */
async function post(
  client: HttpClient,
  modality: Modality,
  body: HttpBody,
  options: CallOptions,
): Promise<Answer | null> {
  const request = { method: 'POST', path: pathOf(modality), body, maxReplyBytes: MAX_REPLY_BYTES } as const;
  const reply = await client.send(request, options);
  if (reply.status < 200 || reply.status > 299) throw httpFailed({ ...reply, about: modality });
  const isJson = /^application\/(\S+\+)?json\b/i.test(reply.headers['content-type'] ?? '');
  return reply.body === null || !isJson ? null : decodeVerdict(reply.body);
}

function pathOf(modality: Modality): string {
  return `/v1/moderations/${modality}`;
}
