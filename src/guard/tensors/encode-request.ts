import {
  type AudioRequest,
  type GuardRequest,
  submittedTurns,
  type ImageRequest,
  type MediaKind,
  type MultiturnRequest,
  requestBytes,
} from '../../domain/request.ts';
import { MODEL_NAME, type InferRequest, type WireTensor } from './protocol.ts';
import { base64Length, encodeBase64, encodeBooleans, encodeStrings } from './raw.ts';

/** Input for the prompt of a `response` request, which the contract does not specify. */
const PROMPT_OF_RESPONSE_INPUT = 'TEXT';

/**
 * The kinds of request, by the set of inputs they send. Triton's dynamic batcher merges only requests with the same
 * inputs, so a kind always sends all of its inputs, even those with their default value.
 */
export type RequestKind =
  | 'prompt'
  | 'response'
  | 'response-with-prompt'
  | 'multiturn'
  | 'generation'
  | 'image'
  | 'image-with-caption'
  | 'audio'
  | 'audio-with-transcript';

/**
 * Kinds that are sent in batches. Conversations, whose MESSAGES differ in shape, and images and audio clips, which are
 * large, are sent alone: the server's dynamic batcher combines their requests.
 */
export function isBatchable(requestKind: RequestKind): boolean {
  return requestKind === 'prompt' || requestKind === 'response' || requestKind === 'response-with-prompt';
}

export function mediaRequestKind({ modality, described }: MediaKind): RequestKind {
  if (modality === 'image') return described ? 'image-with-caption' : 'image';
  return described ? 'audio-with-transcript' : 'audio';
}

export function requestKindOf(request: GuardRequest): RequestKind {
  switch (request.requestType) {
    case 'multiturn':
    case 'generation':
      return request.requestType;
    case 'response':
      return request.prompt === null ? 'response' : 'response-with-prompt';
    case 'prompt':
      switch (request.modality) {
        case 'text':
          return 'prompt';
        case 'image':
          return mediaRequestKind({ modality: 'image', described: request.caption !== null });
        case 'audio':
          return mediaRequestKind({ modality: 'audio', described: request.transcript !== null });
      }
  }
}

/** Size of a request's content in a message, in bytes: texts in UTF-8, images and audio clips in base64. */
export function contentBytes(request: GuardRequest): number {
  const bytes = requestBytes(request);
  if (request.modality === 'text') return bytes;
  const media = request.modality === 'image' ? request.image : request.audio;
  return bytes - media.length + base64Length(media.length);
}

/**
 * Whether tensors have a leading batch dimension: they do when `max_batch_size` in the model's configuration is above
 * 0.
 */
export interface TensorLayout {
  readonly batched: boolean;
}

/** One request, and its cache session, which is sent as SESSION_ID with conversations only and otherwise empty. */
export interface RequestRow {
  readonly request: GuardRequest;
  readonly sessionId: string;
}

/**
 * One ModelInfer request for rows of one kind. Row i of every tensor is `rows[i]`. More than one row needs the
 * batched layout and a batchable kind. Shapes for N rows, batched:
 *
 *   REQUEST_TYPE, MODALITY, TEXT, RESPONSE_TEXT, SESSION_ID   BYTES  [N,1]
 *   CACHE_WRITE                                               BOOL   [N,1]
 *   IMAGE, AUDIO                                              BYTES  [1,1], base64
 *   MESSAGES                                                  BYTES  [1,turns,2], a row being [role, content]
 *
 * Unbatched, they have no first dimension: [1], and [turns,2].
 */
export function encodeRequest(rows: readonly RequestRow[], layout: TensorLayout, id = ''): InferRequest {
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
    case 'generation':
      throw new Error('a generation is sent as a stream');
    case 'multiturn':
      tensors.conversation(request);
      tensors.constant('SESSION_ID', sessionId);
      // A conversation that is judged once would fill the guard's KV cache for nothing.
      tensors.flag('CACHE_WRITE', request.conversation !== null);
      break;
  }
  return tensors.request(id);
}

/** Encodes the `version` request, which asks for the hashes of the deployed artifacts and moderates nothing. */
export function encodeVersionRequest(layout: TensorLayout, id = ''): InferRequest {
  const tensors = new TensorList(1, layout);
  tensors.constant('REQUEST_TYPE', 'version');
  return tensors.request(id);
}

function column(rows: readonly RequestRow[], cell: (request: GuardRequest) => string): string[] {
  return rows.map((row) => cell(row.request));
}

function promptText(request: GuardRequest): string {
  if (request.requestType !== 'prompt' || request.modality !== 'text') throw mixedKinds();
  return request.text;
}

function promptOfResponse(request: GuardRequest): string {
  if (request.requestType !== 'response' || request.prompt === null) throw mixedKinds();
  return request.prompt;
}

function responseText(request: GuardRequest): string {
  if (request.requestType !== 'response') throw mixedKinds();
  return request.response;
}

function mixedKinds(): Error {
  return new Error('rows of different kinds in one request');
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

  /** Adds the same value for every row. */
  constant(name: string, value: string): void {
    const one = encodeStrings([value]);
    this.#add(name, 'BYTES', [1], this.#rows === 1 ? one : Buffer.alloc(one.length * this.#rows, one));
  }

  flag(name: string, value: boolean): void {
    this.#add(name, 'BOOL', [1], encodeBooleans(new Array<boolean>(this.#rows).fill(value)));
  }

  conversation(request: MultiturnRequest): void {
    if (this.#rows !== 1) throw mixedKinds();
    const turns = submittedTurns(request);
    this.#add('MESSAGES', 'BYTES', [turns.length, 2], encodeStrings(turns.flat()));
  }

  media(request: ImageRequest | AudioRequest): void {
    if (this.#rows !== 1) throw mixedKinds();
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

  request(id: string): InferRequest {
    return {
      model_name: MODEL_NAME,
      model_version: '',
      id,
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
