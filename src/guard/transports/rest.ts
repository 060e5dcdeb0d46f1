import type { AudioRequest, GuardRequest, ImageRequest, Modality } from '../../domain/request.ts';
import { CombinedParts } from '../../domain/combined-parts.ts';
import { httpFailed } from '../faults/classify.ts';
import type { Answer } from '../protocol/answer.ts';
import { CallError } from '../protocol/call-error.ts';
import { HARMLESS_ROW } from '../protocol/canary.ts';
import { AdaptiveConcurrency } from '../concurrency/concurrency.ts';
import type {
  CallOptions,
  Connection,
  Credentials,
  OpenOptions,
  ReadyGuard,
} from '../protocol/connection.ts';
import { NotUsable, notUsable } from '../protocol/not-usable.ts';
import type { RequestRow, RequestKind } from '../tensors/encode-request.ts';
import { answers } from '../http/answers.ts';
import { type HttpBody, HttpClient } from '../http/http-client.ts';
import { type BaseAddress, type GuardEndpoint, parseBaseAddress } from '../protocol/address.ts';
import { fileForm } from '../rest/multipart.ts';
import { decodeVerdict } from '../rest/rest-verdict.ts';
import type { Transport } from './transport.ts';

/** Limits of requests in flight. The capacity of such a guard is not known, and is found by trial. */
const INITIAL_IN_FLIGHT = 8;
const MIN_IN_FLIGHT = 2;
const MAX_IN_FLIGHT = 256;

/** Max size of a reply, in bytes. A verdict has a few hundred. */
const MAX_REPLY_BYTES = 256 * 1024;

const PATHS: Readonly<Record<Modality, string>> = {
  text: '/v1/moderations/text',
  image: '/v1/moderations/image',
  audio: '/v1/moderations/audio',
};

/** The REST contract has paths for prompts only. */
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
  connector: (endpoint) => {
    const base = parse(endpoint);
    return (credentials) => new RestConnection(base, credentials);
  },
};

function takes(requestKind: RequestKind): boolean {
  return !NOT_TAKEN.has(requestKind);
}

function parse(endpoint: GuardEndpoint): BaseAddress {
  return parseBaseAddress(endpoint, 'https://host or http://host:9000');
}

class RestConnection implements Connection {
  readonly #client: HttpClient;

  /** Nothing is connected until it is opened. */
  constructor(base: BaseAddress, credentials: Credentials) {
    this.#client = new HttpClient(base, credentials, MAX_IN_FLIGHT + 1);
  }

  /** REST has no readiness check: the guard must judge a harmless text. */
  async open({ requestTimeoutMs, prove, signal }: OpenOptions): Promise<ReadyGuard> {
    try {
      const options = { timeoutMs: requestTimeoutMs, signal };
      const answer = await this.#judge(HARMLESS_ROW.request, options);
      if (answer === null) {
        const detail = 'its reply to a harmless text is not a verdict';
        throw prove
          ? new NotUsable('fails on harmless text', false, detail)
          : new NotUsable('not a guard', true, detail);
      }
    } catch (error) {
      // A guard that limits rates is a guard: 429, or 503 with Retry-After.
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
      isReady: (options) => answers(this.#client, PATHS.text, options),
      judge: async ([row]: readonly RequestRow[], options: CallOptions) => ({
        answers: [await this.#judge(row!.request, options)],
        modelVersion: null,
      }),
      version: null,
      streams: null,
    };
  }

  close(): void {
    this.#client.close();
  }

  #judge(request: GuardRequest, options: CallOptions): Promise<Answer | null> {
    if (request.requestType !== 'prompt') throw new Error('not a request for REST');
    return request.modality === 'text' ? this.#text(request.text, options) : this.#media(request, options);
  }

  #text(text: string, options: CallOptions): Promise<Answer | null> {
    return this.#post('text', jsonBody({ text }), options);
  }

  /** REST has no field for a caption or transcript: it is judged as a text of its own. */
  async #media(request: ImageRequest | AudioRequest, options: CallOptions): Promise<Answer | null> {
    const isImage = request.modality === 'image';
    const text = isImage ? request.caption : request.transcript;
    const ofText = text === null ? null : await this.#text(text, options);
    if (text !== null && ofText === null) return null;
    const bytes = isImage ? request.image : request.audio;
    const ofFile = await this.#post(request.modality, fileForm(bytes), options);
    if (ofFile === null || ofText === null) return ofFile;
    const parts = new CombinedParts<Answer>();
    parts.add(ofFile);
    parts.add(ofText);
    return parts.combined;
  }

  /** Null when the reply is not a verdict. */
  async #post(modality: Modality, body: HttpBody, options: CallOptions): Promise<Answer | null> {
    const request = { method: 'POST', path: PATHS[modality], body, maxReplyBytes: MAX_REPLY_BYTES } as const;
    const { status, headers, body: bytes } = await this.#client.send(request, options);
    if (status < 200 || status > 299) throw httpFailed({ status, headers, body: bytes, about: modality });
    const isJson = /^application\/(\S+\+)?json\b/i.test(headers['content-type'] ?? '');
    return bytes === null || !isJson ? null : decodeVerdict(bytes);
  }
}

function jsonBody(value: unknown): HttpBody {
  return { contentType: 'application/json', chunks: [Buffer.from(JSON.stringify(value))] };
}
