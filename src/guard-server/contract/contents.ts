import { isUtf8 } from 'node:buffer';
import { hasMagicBytes, type Magic } from '../../domain/magic-bytes.ts';
import { type Role, ROLES, type Turn, type UnaryRequest } from '../../domain/request.ts';
import { tokensOf } from './context-window.ts';
import { refused } from './request-error.ts';
import type { TensorRequest } from './tensor-request.ts';

/** The purpose of a request: the artifacts' hashes, or one verdict per row. */
type Contents = 'version' | readonly UnaryRequest[];

/** Max base64 characters of an image or an audio clip: five times those of 300 s of audio in normalized format. */
const MAX_MEDIA_BASE64 = 64 * 1024 * 1024;

/**
 * Reads and validates the rows of a request by their REQUEST_TYPE. A gRPC call has one status, so the first invalid row
 * fails all rows of its request.
 * Throws RequestError with a code of the contract; docs/writing-a-guard.md lists the codes that the contract leaves
 * open.
 */
export function readContents(request: TensorRequest, contextTokens: number): Contents {
  const contents: UnaryRequest[] = [];
  let versions = 0;
  for (let row = 0; row < request.rows; row++) {
    const content = readRow(request, row);
    if (content === 'version') {
      versions++;
      continue;
    }
    const tokens = tokensOf(content);
    if (tokens > contextTokens) {
      const text = `${tokens} tokens are more than the context window of ${contextTokens}`;
      throw refused(request.id, 'SEQUENCE_OVERFLOW', text);
    }
    contents.push(content);
  }
  if (versions === 0) return contents;
  if (contents.length > 0) {
    throw refused(request.id, 'GUARD_REJECTED', 'a version request has no rows of another REQUEST_TYPE');
  }
  return 'version';
}

function readRow(request: TensorRequest, row: number): UnaryRequest | 'version' {
  const requestType = readString(request, 'REQUEST_TYPE', row) ?? 'prompt';
  switch (requestType) {
    case 'version':
      return 'version';
    case 'prompt':
      return readPrompt(request, row);
    case 'response': {
      checkTextModality(request, row);
      const prompt = readString(request, 'TEXT', row);
      return {
        requestType,
        modality: 'text',
        prompt: prompt === null ? null : notBlank(request, 'TEXT', prompt),
        response: readText(request, 'RESPONSE_TEXT', row),
      };
    }
    case 'multiturn': {
      checkTextModality(request, row);
      const messages = readConversation(request, row);
      return { requestType, modality: 'text', messages, turns: messages.length, conversation: null };
    }
    default:
      throw refused(
        request.id,
        'GUARD_REJECTED',
        'REQUEST_TYPE is none of prompt, response, multiturn, version',
      );
  }
}

function readPrompt(request: TensorRequest, row: number): UnaryRequest {
  const modality = readString(request, 'MODALITY', row);
  switch (modality) {
    case null:
      throw refused(request.id, 'MISSING_PAYLOAD', 'a prompt request needs MODALITY');
    case 'text':
      return { requestType: 'prompt', modality, text: readText(request, 'TEXT', row) };
    case 'image': {
      const image = readMedia(request, 'IMAGE', row);
      return { requestType: 'prompt', modality, image, caption: readCaption(request, row) };
    }
    case 'audio': {
      const audio = readMedia(request, 'AUDIO', row);
      if (!isAudioContainer(audio)) {
        throw refused(request.id, 'UNSUPPORTED_AUDIO_TYPE', 'AUDIO holds none of MP3, WAV, FLAC, OGG, M4A');
      }
      return { requestType: 'prompt', modality, audio, transcript: readCaption(request, row) };
    }
    default:
      throw refused(request.id, 'GUARD_REJECTED', 'MODALITY is none of text, image, audio');
  }
}

/** `response` and `multiturn` do not need MODALITY, but must not contradict it. */
function checkTextModality(request: TensorRequest, row: number): void {
  const modality = readString(request, 'MODALITY', row);
  if (modality !== null && modality !== 'text') {
    throw refused(request.id, 'GUARD_REJECTED', 'this REQUEST_TYPE takes MODALITY text only');
  }
}

/** MESSAGES has the shape [N, turns, 2]: role and content of each turn. */
function readConversation(request: TensorRequest, row: number): readonly Turn[] {
  const cells = request.strings.get('MESSAGES');
  if (cells === undefined) throw refused(request.id, 'MISSING_PAYLOAD', 'a multiturn request needs MESSAGES');
  if (request.turns === 0) throw refused(request.id, 'INVALID_CONVERSATION', 'MESSAGES has no turn');
  const first = row * request.turns * 2;
  const turns: Turn[] = [];
  for (let turn = 0; turn < request.turns; turn++) {
    const role = decodeText(request, 'MESSAGES', cells[first + turn * 2]!);
    if (!isRole(role)) {
      throw refused(request.id, 'INVALID_ROLE', `turn ${turn + 1}: a role is system, user or assistant`);
    }
    turns.push([role, decodeText(request, 'MESSAGES', cells[first + turn * 2 + 1]!)]);
  }
  if (turns.at(-1)![0] === 'system') {
    throw refused(request.id, 'INVALID_CONVERSATION', 'the final turn is a system turn');
  }
  const blank = turns.findIndex(([, content]) => isBlank(content));
  if (blank >= 0) throw refused(request.id, 'EMPTY_CONTENT', `turn ${blank + 1} is blank`);
  return turns;
}

/** The SESSION_ID of a row; null when missing or empty. */
export function readSession(request: TensorRequest, row: number): string | null {
  return readString(request, 'SESSION_ID', row) || null;
}

function isRole(name: string): name is Role {
  return (ROLES as readonly string[]).includes(name);
}

function readText(request: TensorRequest, input: string, row: number): string {
  const text = readString(request, input, row);
  if (text === null) throw refused(request.id, 'MISSING_PAYLOAD', `${input} is missing`);
  return notBlank(request, input, text);
}

function notBlank(request: TensorRequest, input: string, text: string): string {
  if (isBlank(text)) throw refused(request.id, 'EMPTY_CONTENT', `${input} is blank`);
  return text;
}

function isBlank(text: string): boolean {
  return !/\S/.test(text);
}

/** A row's element of an input of shape [N, 1]; null if the request lacks that input. */
function readString(request: TensorRequest, input: string, row: number): string | null {
  const element = request.strings.get(input)?.[row];
  return element === undefined ? null : decodeText(request, input, element);
}

function decodeText(request: TensorRequest, input: string, element: Buffer): string {
  if (!isUtf8(element)) throw refused(request.id, 'GUARD_REJECTED', `${input} is not UTF-8`);
  return element.toString();
}

/** The caption of an image or the transcript of an audio clip, in TEXT; null if there is none. */
function readCaption(request: TensorRequest, row: number): string | null {
  const caption = readString(request, 'TEXT', row);
  return caption === null ? null : notBlank(request, 'TEXT', caption);
}

/** The bytes of an image or an audio clip. An empty element counts as missing. */
function readMedia(request: TensorRequest, input: 'IMAGE' | 'AUDIO', row: number): Buffer {
  const element = request.strings.get(input)?.[row];
  if (element === undefined || element.length === 0) {
    throw refused(request.id, 'MISSING_PAYLOAD', `${input} is missing`);
  }
  if (element.length > MAX_MEDIA_BASE64) {
    const text = `${input} is longer than ${MAX_MEDIA_BASE64} characters of base64`;
    throw refused(request.id, 'GUARD_REJECTED', text);
  }
  const bytes = decodeBase64(element);
  if (bytes === null) throw refused(request.id, 'GUARD_REJECTED', `${input} is not base64`);
  return bytes;
}

/**
 * Decodes strict base64 (RFC 4648, section 4; padding is optional). Null for anything else, including line breaks and
 * the URL-safe alphabet.
 */
export function decodeBase64(encoded: Buffer): Buffer | null {
  const text = encoded.toString('latin1');
  const bytes = Buffer.from(text, 'base64');
  // Node skips invalid characters, so only strict base64 survives the round trip.
  const strict = bytes.toString('base64');
  return text === strict || text === strict.replace(/={1,2}$/, '') ? bytes : null;
}

const CONTAINERS: readonly Magic[] = ['id3', 'riffWave', 'flac', 'ogg', 'isoMedia'];

/**
 * Whether bytes begin like one of the audio containers of the contract: MP3 (with or without ID3), WAV, FLAC, Ogg,
 * MP4/M4A. The contract lists file extensions; a tensor carries no file name, so the magic bytes decide.
 */
export function isAudioContainer(bytes: Buffer): boolean {
  return CONTAINERS.some((magic) => hasMagicBytes(bytes, magic)) || isMp3Frame(bytes);
}

/** The layer bits of a frame header that stand for layer III. */
const LAYER_III = 1;

/** A frame header of MPEG audio, layer III, without a reserved bit rate or sample rate (ISO/IEC 11172-3, 2.4.2.3). */
function isMp3Frame(bytes: Buffer): boolean {
  if (bytes.length < 4 || !hasMagicBytes(bytes, 'mpegAudioFrame')) return false;
  const layer = (bytes[1]! >> 1) & 3;
  const bitRate = bytes[2]! >> 4;
  const sampleRate = (bytes[2]! >> 2) & 3;
  return layer === LAYER_III && bitRate !== 15 && sampleRate !== 3;
}
