/** Requests to the guard for one item, before they are encoded as tensors. */

export type RequestType = 'prompt' | 'response' | 'multiturn' | 'generation';
export type Modality = 'text' | 'image' | 'audio';
export type Role = 'system' | 'user' | 'assistant';

export const REQUEST_TYPES: readonly RequestType[] = ['prompt', 'response', 'multiturn', 'generation'];
export const MODALITIES: readonly Modality[] = ['text', 'image', 'audio'];
export const ROLES: readonly Role[] = ['system', 'user', 'assistant'];

/** One turn of a conversation. */
export type Turn = readonly [role: Role, content: string];

/** A single text, judged as user input. */
export interface PromptRequest {
  readonly requestType: 'prompt';
  readonly modality: 'text';
  readonly text: string;
}

/** An assistant's response, judged together with its prompt if the prompt is known. */
export interface ResponseRequest {
  readonly requestType: 'response';
  readonly modality: 'text';
  readonly prompt: string | null;
  readonly response: string;
}

/** A conversation up to and including one turn; the last turn's role decides how the guard judges it. */
export interface MultiturnRequest {
  readonly requestType: 'multiturn';
  readonly modality: 'text';
  /** The whole conversation. Items of one conversation share this array. */
  readonly messages: readonly Turn[];
  /** Number of `messages` submitted, starting with the first: 1 … messages.length. */
  readonly turns: number;
  /**
   * The seq of the conversation's first item if every turn is an item; otherwise null. Such items are sent one after
   * another to one endpoint in one cache session.
   */
  readonly conversation: number | null;
}

/** A recorded generation, replayed as one moderation stream. */
export interface GenerationRequest {
  readonly requestType: 'generation';
  readonly modality: 'text';
  /** The question or instruction; not blank. */
  readonly prompt: string;
  /** The response as generated. No chunk is empty or ends within a surrogate pair; chunk i is sent with seq i. */
  readonly chunks: readonly string[];
  /** Number of chunks between verdicts; not part of the item's identity. */
  readonly cadenceChunks: number;
}

/** A request that carries its content. */
export type TextRequest = PromptRequest | ResponseRequest | MultiturnRequest | GenerationRequest;

/** One frame of an image, normalized, as sent to the guard. */
export interface ImageRequest {
  readonly requestType: 'prompt';
  readonly modality: 'image';
  readonly image: Buffer;
  readonly caption: string | null;
}

/** One window of an audio clip, normalized, as sent to the guard. */
export interface AudioRequest {
  readonly requestType: 'prompt';
  readonly modality: 'audio';
  readonly audio: Buffer;
  readonly transcript: string | null;
}

/** A request that is answered by a single call. */
export type UnaryRequest = Exclude<TextRequest, GenerationRequest> | ImageRequest | AudioRequest;

export type GuardRequest = UnaryRequest | GenerationRequest;

/** A media file to judge, by reference until a worker decodes it. */
export interface MediaRequest {
  readonly requestType: 'prompt';
  readonly modality: 'image' | 'audio';
  readonly file: MediaFile;
  /** Caption of an image or transcript of an audio clip. */
  readonly caption: string | null;
}

export interface MediaFile {
  /** Name of the corpus: the first component of the item's source path, which a worker maps to a folder of its own. */
  readonly corpus: string;
  /** Encoded path relative to the corpus, with `/`; empty if the corpus is the file itself. */
  readonly path: string;
  /** SHA-256 of the file's bytes, 64 hex digits. */
  readonly sha256: string;
  readonly bytes: number;
}

/** Data from reading a media file: everything that an item needs from it except its caption. */
export interface ReadMedia {
  /** SHA-256 of the file's bytes, 64 hex digits. */
  readonly sha256: string;
  readonly modality: MediaRequest['modality'];
}

/** Kinds of media that a guard needs separate probes for. */
export interface MediaKind {
  readonly modality: 'image' | 'audio';
  /** Whether it has a caption or a transcript. */
  readonly described: boolean;
}

/** Kinds of requests that a guard may be unable to judge even if it judges text. */
export type OptionalKind = MediaKind | Pick<GenerationRequest, 'requestType' | 'modality'>;

/** An image or an audio clip inside a record or another file, whose bytes travel with the item. */
export interface EmbeddedMediaRequest {
  readonly requestType: 'prompt';
  readonly modality: 'image' | 'audio';
  readonly embedded: Buffer;
  readonly caption: null;
}

/** The request of an item. */
export type ItemRequest = TextRequest | MediaRequest | EmbeddedMediaRequest;

/** Whether an item's content is a media file, which does not travel with the item. */
export function isMedia(request: ItemRequest): request is MediaRequest {
  return 'file' in request;
}

/** Whether an item is an image or an audio clip inside a record or another file. */
export function isEmbedded(request: ItemRequest): request is EmbeddedMediaRequest {
  return 'embedded' in request;
}

/** Returns the turns that a multiturn request submits. */
export function submittedTurns(request: MultiturnRequest): readonly Turn[] {
  return request.turns === request.messages.length
    ? request.messages
    : request.messages.slice(0, request.turns);
}

/** Memory used by a chunk of a generation in addition to its text, in bytes. */
const CHUNK_OVERHEAD_BYTES = 32;

/**
 * Size of the content in a request, in bytes (text in UTF-8), as used for shard and memory bounds. For a media file by
 * reference, only its caption counts. A generation may have many short chunks, so each counts with its overhead.
 */
export function requestBytes(request: GuardRequest | ItemRequest): number {
  switch (request.requestType) {
    case 'prompt':
      if (request.modality === 'text') return Buffer.byteLength(request.text);
      if ('embedded' in request) return request.embedded.length;
      if ('file' in request) return Buffer.byteLength(request.caption ?? '');
      return request.modality === 'image'
        ? request.image.length + Buffer.byteLength(request.caption ?? '')
        : request.audio.length + Buffer.byteLength(request.transcript ?? '');
    case 'response':
      return Buffer.byteLength(request.prompt ?? '') + Buffer.byteLength(request.response);
    case 'generation':
      return request.chunks.reduce(
        (bytes, chunk) => bytes + Buffer.byteLength(chunk) + CHUNK_OVERHEAD_BYTES,
        Buffer.byteLength(request.prompt),
      );
    case 'multiturn': {
      let bytes = 0;
      for (let turn = 0; turn < request.turns; turn++) bytes += turnBytes(request.messages[turn]!);
      return bytes;
    }
  }
}

/** Size of one turn of a conversation in bytes: role and content in UTF-8. */
export function turnBytes([role, content]: Turn): number {
  return role.length + Buffer.byteLength(content);
}

/**
 * Roles in a record that differ from the role a turn is judged in, in the order in which counts are recorded. Other
 * names may be content and count as `other`; so do turns without a role. `system` counts only turns that are judged in
 * another role.
 */
export const ORIGINAL_ROLES = [
  ...(['system', 'developer', 'tool', 'function'] as const),
  ...(['human', 'gpt', 'bot', 'model', 'observation'] as const),
  ...(['agent', 'ai', 'chatbot', 'wizard', 'other'] as const),
] as const;

export type OriginalRole = (typeof ORIGINAL_ROLES)[number];

/** Number of turns by original role: not empty, without zero counts, in the order of ORIGINAL_ROLES. */
export type RoleCounts = Readonly<Partial<Record<OriginalRole, number>>>;
