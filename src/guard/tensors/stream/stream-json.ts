import { parseReply } from '../../protocol/parse-reply.ts';
import {
  InvalidStreamMessage,
  parseRequest,
  parseVerdict,
  requestFields,
  type StreamRequest,
  type StreamVerdict,
  verdictFields,
} from './stream-messages.ts';
import { isStatusName, type StatusName } from './stream-status.ts';

/**
 * The messages of a moderation stream as JSON text messages of a WebSocket. Unknown fields are ignored, except for a
 * misspelt cadence, and a field that is null counts as missing. The caller limits the length of the input.
 */

/** Max characters of an error's text to read. */
const MAX_ERROR_TEXT = 1024;

/** A server's message: a verdict, or the error that ends the stream. */
export type StreamReply =
  | { readonly verdict: StreamVerdict; readonly error: null }
  | { readonly verdict: null; readonly error: StreamErrorReply };

interface StreamErrorReply {
  /** UNKNOWN for a code that is not the name of a gRPC status. */
  readonly status: StatusName;
  /** The server's words: never print or keep them. */
  readonly text: string;
}

/**
 * Writes a client's message. A missing chunk is written as an empty one, as the contract requires for the closing
 * message.
 */
export function writeStreamRequest(request: StreamRequest): string {
  return JSON.stringify({ ...requestFields(request), response_chunk: request.chunk ?? '' });
}

/** Reads a client's message; only `seq` is required. Throws InvalidStreamMessage. */
export function readStreamRequest(json: string): StreamRequest {
  return parseRequest(readObject(json));
}

export function writeStreamVerdict(verdict: StreamVerdict): string {
  return JSON.stringify(verdictFields(verdict));
}

/** Writes `{"error": {"code", "message"}}`, the last message before the socket is closed. */
export function writeStreamError(status: StatusName, text: string): string {
  return JSON.stringify({ error: { code: status, message: text } });
}

/** Reads a server's message; only the `score` of a verdict may be missing. Throws InvalidStreamMessage. */
export function readStreamReply(json: string): StreamReply {
  const fields = readObject(json);
  const { error } = fields;
  return isObject(error)
    ? { verdict: null, error: toErrorReply(error) }
    : { verdict: parseVerdict(fields), error: null };
}

type Fields = Readonly<Record<string, unknown>>;

function readObject(json: string): Fields {
  const value = parseReply(json);
  if (!isObject(value)) throw new InvalidStreamMessage('the message is not a JSON object');
  return value;
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function toErrorReply({ code, message }: Fields): StreamErrorReply {
  return {
    status: typeof code === 'string' && isStatusName(code) ? code : 'UNKNOWN',
    text: typeof message === 'string' ? message.slice(0, MAX_ERROR_TEXT) : '',
  };
}
