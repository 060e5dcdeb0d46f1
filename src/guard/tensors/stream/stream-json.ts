import {
  CADENCE_NAMES,
  cadenceOf,
  checkSeq,
  checkStreamId,
  checkText,
  InvalidStreamMessage,
  isLatency,
  isScore,
  NOTHING_JUDGED,
  refuseMisspelt,
  type StreamRequest,
  type StreamVerdict,
} from './stream-messages.ts';
import { isStatusName, type StatusName } from './stream-status.ts';
import { roundScore } from '../../protocol/answer.ts';
import { parseReply } from '../../protocol/parse-reply.ts';

/**
 * The messages of a moderation stream as JSON text messages of a WebSocket. Fields with other names are ignored, except
 * for a misspelt cadence, and a field that is null counts as missing. The caller limits the length of what is read.
 */

/** Besides the cadence. */
const REQUEST_FIELDS = ['stream_id', 'seq', 'prompt', 'response_chunk', 'end_of_stream'];

/** Max characters of an error's text that is read. */
const MAX_ERROR_TEXT = 1024;

/** A server's message: a verdict, or the error that ends the stream. */
export type StreamReply =
  | { readonly verdict: StreamVerdict; readonly error: null }
  | { readonly verdict: null; readonly error: StreamErrorReply };

export interface StreamErrorReply {
  /** UNKNOWN for a code that is no gRPC status name. */
  readonly status: StatusName;
  /** The server's words: never print or keep them. */
  readonly text: string;
}

/**
 * Writes `{"stream_id", "seq", "prompt", "response_chunk", "end_of_stream", "cadence_chunks", "cadence_ms"}`. A chunk of
 * null is written as an empty one, as the contract asks of the closing message; other missing fields are left out.
 */
export function writeStreamRequest(request: StreamRequest): string {
  const { streamId, seq, prompt, chunk, endOfStream, cadence } = request;
  return JSON.stringify({
    ...(streamId === '' ? {} : { stream_id: streamId }),
    seq,
    ...(prompt === null ? {} : { prompt }),
    response_chunk: chunk ?? '',
    end_of_stream: endOfStream,
    ...(cadence === null ? {} : { [CADENCE_NAMES[cadence.unit]]: cadence.every }),
  });
}

/** Reads a client's message; only `seq` is required. Throws InvalidStreamMessage. */
export function readStreamRequest(json: string): StreamRequest {
  const fields = readObject(json);
  refuseMisspelt(Object.keys(fields), REQUEST_FIELDS);
  const prompt = textOf(fields, 'prompt');
  const chunk = textOf(fields, 'response_chunk');
  return {
    streamId: checkStreamId('stream_id', textOf(fields, 'stream_id') ?? ''),
    seq: checkSeq('seq', fields['seq'], 0),
    prompt: prompt === null ? null : checkText('prompt', prompt),
    chunk: chunk === null ? null : checkText('response_chunk', chunk),
    endOfStream: booleanOf(fields, 'end_of_stream') ?? false,
    cadence: cadenceOf(fields[CADENCE_NAMES.chunks] ?? undefined, fields[CADENCE_NAMES.ms] ?? undefined),
  };
}

/** Writes the verdict's fields in snake case; a score of null is left out. */
export function writeStreamVerdict(verdict: StreamVerdict): string {
  return JSON.stringify({
    processed_until_seq: verdict.processedUntilSeq,
    flagged: verdict.flagged,
    needs_caution: verdict.needsCaution,
    ...(verdict.score === null ? {} : { score: verdict.score }),
    latency_ms: verdict.latencyMs,
    is_final: verdict.isFinal,
  });
}

/** Writes `{"error": {"code", "message"}}`, the last message before the socket is closed. */
export function writeStreamError(status: StatusName, text: string): string {
  return JSON.stringify({ error: { code: status, message: text } });
}

/** Reads a server's message; of a verdict only `score` may be missing. Throws InvalidStreamMessage. */
export function readStreamReply(json: string): StreamReply {
  const fields = readObject(json);
  const { error } = fields;
  if (isObject(error)) return { verdict: null, error: errorOf(error) };
  const score = fields['score'] ?? null;
  if (score !== null && !(typeof score === 'number' && isScore(score))) {
    throw new InvalidStreamMessage('score is not a number from 0 to 1');
  }
  const latencyMs = fields['latency_ms'];
  if (!(typeof latencyMs === 'number' && isLatency(latencyMs))) {
    throw new InvalidStreamMessage('latency_ms is not a number from 0');
  }
  const verdict = {
    processedUntilSeq: checkSeq('processed_until_seq', fields['processed_until_seq'], NOTHING_JUDGED),
    flagged: required('flagged', booleanOf(fields, 'flagged')),
    needsCaution: required('needs_caution', booleanOf(fields, 'needs_caution')),
    score: score === null ? null : roundScore(score),
    latencyMs,
    isFinal: required('is_final', booleanOf(fields, 'is_final')),
  };
  return { verdict, error: null };
}

type Fields = Readonly<Record<string, unknown>>;

function readObject(json: string): Fields {
  const value = parseReply(json);
  if (value === undefined) throw new InvalidStreamMessage('the message is not JSON');
  if (!isObject(value)) throw new InvalidStreamMessage('the message is not a JSON object');
  return value;
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(fields: Fields, name: string): string | null {
  const value = fields[name] ?? null;
  if (value === null || typeof value === 'string') return value;
  throw new InvalidStreamMessage(`${name} is not a string`);
}

function booleanOf(fields: Fields, name: string): boolean | null {
  const value = fields[name] ?? null;
  if (value === null || typeof value === 'boolean') return value;
  throw new InvalidStreamMessage(`${name} is not a boolean`);
}

function required<T>(name: string, value: T | null): T {
  if (value === null) throw new InvalidStreamMessage(`${name} is missing`);
  return value;
}

function errorOf(error: Fields): StreamErrorReply {
  const { code, message } = error;
  return {
    status: typeof code === 'string' && isStatusName(code) ? code : 'UNKNOWN',
    text: typeof message === 'string' ? message.slice(0, MAX_ERROR_TEXT) : '',
  };
}
