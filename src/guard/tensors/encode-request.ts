import {
  type AudioRequest,
  type GuardRequest,
  history,
  type ImageRequest,
  type MediaKind,
  type MultiturnRequest,
  requestBytes,
} from '../../domain/request.ts';
import { MODEL_NAME, type InferRequest, type WireTensor } from './protocol.ts';
import { base64Length, encodeBase64, encodeBooleans, encodeStrings } from './raw.ts';

/** The input that carries the prompt of a `response` request: the contract leaves it open. */
const PROMPT_OF_RESPONSE_INPUT = 'TEXT';

/**
 * The kinds of request by the set of inputs they send. A server merges only requests of one set into a batch, so
 * a kind always sends all of its inputs, also where one holds a default.
 */
export type Signature =
  | 'prompt'
  | 'response'
  | 'response-with-prompt'
  | 'multiturn'
  | 'image'
  | 'image-with-caption'
  | 'audio'
  | 'audio-with-transcript';

/**
 * Kinds that travel in batches. The rows of a conversation differ in shape; images and clips are large, and the
 * server joins single requests by itself.
 */
export function isBatchable(signature: Signature): boolean {
  return signature === 'prompt' || signature === 'response' || signature === 'response-with-prompt';
}

export function signatureOfMedia({ modality, described }: MediaKind): Signature {
  if (modality === 'image') return described ? 'image-with-caption' : 'image';
  return described ? 'audio-with-transcript' : 'audio';
}

export function signatureOf(request: GuardRequest): Signature {
  switch (request.requestType) {
    case 'multiturn':
      return 'multiturn';
    case 'response':
      return request.prompt === null ? 'response' : 'response-with-prompt';
    case 'prompt':
      switch (request.modality) {
        case 'text':
          return 'prompt';
        case 'image':
          return signatureOfMedia({ modality: 'image', described: request.caption !== null });
        case 'audio':
          return signatureOfMedia({ modality: 'audio', described: request.transcript !== null });
      }
  }
}

/** Bytes that the content of a request takes in a message: texts in UTF-8, images and clips in base64. */
export function contentBytes(request: GuardRequest): number {
  const bytes = requestBytes(request);
  if (request.modality === 'text') return bytes;
  const media = request.modality === 'image' ? request.image : request.audio;
  return bytes - media.length + base64Length(media.length);
}

/** Whether tensors have a first dimension for the batch: when the model's max_batch_size is at least 1. */
export interface TensorLayout {
  readonly batched: boolean;
}

/** One request and the cache session it belongs to, which reaches the guard, and need not be empty, with conversations only. */
export interface RequestRow {
  readonly request: GuardRequest;
  readonly sessionId: string;
}

/**
 * One ModelInfer request for rows of one signature, row i of every tensor being `rows[i]`. More than one row
 * needs the batched layout, and only batchable signatures may have more than one.
 */
export function encodeRequest(rows: readonly RequestRow[], layout: TensorLayout): InferRequest {
  const tensors = new TensorList(rows.length, layout);
  const { request, sessionId } = rows[0]!;
  tensors.constant('REQUEST_TYPE', request.requestType);
  tensors.constant('MODALITY', request.modality);
  switch (request.requestType) {
    case 'prompt':
      if (request.modality === 'text') tensors.strings('TEXT', column(rows, promptText));
      else tensors.media(request);
      break;
    case 'response':
      if (request.prompt !== null) tensors.strings(PROMPT_OF_RESPONSE_INPUT, column(rows, promptOfResponse));
      tensors.strings('RESPONSE_TEXT', column(rows, responseText));
      break;
    case 'multiturn':
      tensors.conversation(request);
      tensors.constant('SESSION_ID', sessionId);
      // A conversation that is judged once leaves nothing worth keeping in the guard's cache.
      tensors.flag('CACHE_WRITE', request.conversation !== null);
      break;
  }
  return tensors.request();
}

/** The request that asks which model is deployed; it moderates nothing. */
export function encodeVersionRequest(layout: TensorLayout): InferRequest {
  const tensors = new TensorList(1, layout);
  tensors.constant('REQUEST_TYPE', 'version');
  return tensors.request();
}

function column(rows: readonly RequestRow[], cell: (request: GuardRequest) => string): string[] {
  return rows.map((row) => cell(row.request));
}

function promptText(request: GuardRequest): string {
  if (request.requestType !== 'prompt' || request.modality !== 'text') throw mixed();
  return request.text;
}

function promptOfResponse(request: GuardRequest): string {
  if (request.requestType !== 'response' || request.prompt === null) throw mixed();
  return request.prompt;
}

function responseText(request: GuardRequest): string {
  if (request.requestType !== 'response') throw mixed();
  return request.response;
}

function mixed(): Error {
  return new Error('rows of different signatures in one request');
}

class TensorList {
  readonly #rows: number;
  readonly #layout: TensorLayout;
  readonly #inputs: WireTensor[] = [];
  readonly #raw: Buffer[] = [];

  constructor(rows: number, layout: TensorLayout) {
    if (rows < 1 || (rows > 1 && !layout.batched)) throw new Error('this layout holds one row');
    this.#rows = rows;
    this.#layout = layout;
  }

  strings(name: string, values: readonly string[]): void {
    this.#add(name, 'BYTES', [1], encodeStrings(values));
  }

  /** The same value in every row. */
  constant(name: string, value: string): void {
    const one = encodeStrings([value]);
    this.#add(name, 'BYTES', [1], this.#rows === 1 ? one : Buffer.alloc(one.length * this.#rows, one));
  }

  flag(name: string, value: boolean): void {
    this.#add(name, 'BOOL', [1], encodeBooleans(new Array<boolean>(this.#rows).fill(value)));
  }

  conversation(request: MultiturnRequest): void {
    if (this.#rows !== 1) throw mixed();
    const turns = history(request);
    this.#add('MESSAGES', 'BYTES', [turns.length, 2], encodeStrings(turns.flat()));
  }

  media(request: ImageRequest | AudioRequest): void {
    if (this.#rows !== 1) throw mixed();
    const isImage = request.modality === 'image';
    this.#add(
      isImage ? 'IMAGE' : 'AUDIO',
      'BYTES',
      [1],
      encodeBase64(isImage ? request.image : request.audio),
    );
    const text = isImage ? request.caption : request.transcript;
    if (text !== null) this.strings('TEXT', [text]);
  }

  request(): InferRequest {
    return {
      model_name: MODEL_NAME,
      model_version: '',
      id: '',
      inputs: this.#inputs,
      raw_input_contents: this.#raw,
    };
  }

  #add(name: string, datatype: string, dims: readonly number[], raw: Buffer): void {
    const shape = this.#layout.batched ? [this.#rows, ...dims] : dims;
    this.#inputs.push({ name, datatype, shape });
    this.#raw.push(raw);
  }
}
