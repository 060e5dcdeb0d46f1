import { nearest } from '../../../config/usage-error.ts';
/**
 * The two messages of a moderation stream, protocol version `v1-alpha` of the guard's contract, as client and server use
 * them. They travel as tensors of ModelStreamInfer (stream-tensors.ts) or as JSON over a WebSocket (stream-json.ts).
 */

/** How often the server gives a verdict: after every so many chunks, or every so many milliseconds. */
export interface Cadence {
  readonly unit: 'chunks' | 'ms';
  /** An integer above 0. */
  readonly every: number;
}

/** Client to server. */
export interface StreamRequest {
  /** Chosen by the client, at most MAX_STREAM_ID characters; empty: none. */
  readonly streamId: string;
  /** 0 to MAX_SEQ, and higher in each message of a stream. */
  readonly seq: number;
  /** The input that the text answers. Required in the first message. */
  readonly prompt: string | null;
  /** Text generated since the last message. Null or empty: none, as in a message that only ends the stream. */
  readonly chunk: string | null;
  /** No further text follows. */
  readonly endOfStream: boolean;
  /** Set in the first message; null: the server's default. */
  readonly cadence: Cadence | null;
}

/** Server to client. */
export interface StreamVerdict {
  /** Everything up to this seq has been judged; NOTHING_JUDGED before the first chunk is. Never decreases. */
  readonly processedUntilSeq: number;
  /** The judged text is hazardous. */
  readonly flagged: boolean;
  /** The risk of the judged text is elevated, but it is not flagged. */
  readonly needsCaution: boolean;
  /** Probability that the judged text is hazardous, 0 to 1. Null: not given. */
  readonly score: number | null;
  /** Time it took to judge, in milliseconds. */
  readonly latencyMs: number;
  /** The verdict on the whole text: the last of the stream. */
  readonly isFinal: boolean;
}

/** `processedUntilSeq` before the first chunk has been judged. */
export const NOTHING_JUDGED = -1;

export const MAX_SEQ = Number.MAX_SAFE_INTEGER;

/** Max length of a stream id, in UTF-16 code units. */
export const MAX_STREAM_ID = 256;

/** Max size of a prompt and of a chunk, in bytes of UTF-8. */
export const MAX_STREAM_TEXT_BYTES = 1024 * 1024;

/** Request parameters and JSON fields that set the cadence. */
export const CADENCE_NAMES = { chunks: 'cadence_chunks', ms: 'cadence_ms' } as const;

/** A message that is no valid StreamRequest or StreamVerdict. Its text names the fault and quotes nothing. */
export class InvalidStreamMessage extends Error {
  override readonly name = 'InvalidStreamMessage';
}

/**
 * Throws InvalidStreamMessage if one of the names that a message gives and nobody knows stands for a cadence: a stream with
 * another cadence than its client meant would not be noticed.
 */
export function refuseMisspelt(names: Iterable<string>, known: readonly string[]): void {
  const cadences: readonly string[] = Object.values(CADENCE_NAMES);
  for (const name of names) {
    if (cadences.includes(name) || known.includes(name)) continue;
    if (/cadence/i.test(name) || nearest(name, cadences) !== null) {
      throw new InvalidStreamMessage('a parameter is like cadence_chunks or cadence_ms, but neither');
    }
  }
}

/** The cadence of a message with these values; undefined: not given. Throws InvalidStreamMessage. */
export function cadenceOf(chunks: unknown, ms: unknown): Cadence | null {
  if (chunks === undefined && ms === undefined) return null;
  if (chunks !== undefined && ms !== undefined) {
    throw new InvalidStreamMessage('cadence_chunks and cadence_ms exclude each other');
  }
  const unit = ms === undefined ? 'chunks' : 'ms';
  const every = unit === 'ms' ? ms : chunks;
  if (typeof every !== 'number' || !Number.isSafeInteger(every) || every < 1) {
    throw new InvalidStreamMessage(`${CADENCE_NAMES[unit]} is not an integer above 0`);
  }
  return { unit, every };
}

/** Returns `text` if it is no longer than MAX_STREAM_TEXT_BYTES. Throws InvalidStreamMessage. */
export function checkText(name: string, text: string): string {
  if (Buffer.byteLength(text) > MAX_STREAM_TEXT_BYTES) {
    throw new InvalidStreamMessage(`${name} has more than ${MAX_STREAM_TEXT_BYTES} bytes`);
  }
  return text;
}

/** Returns `id` if it is no longer than MAX_STREAM_ID. Throws InvalidStreamMessage. */
export function checkStreamId(name: string, id: string): string {
  if (id.length > MAX_STREAM_ID) {
    throw new InvalidStreamMessage(`${name} has more than ${MAX_STREAM_ID} characters`);
  }
  return id;
}

/** Returns `value` if it is an integer from `min` to MAX_SEQ. Throws InvalidStreamMessage. */
export function checkSeq(name: string, value: unknown, min: number): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min) return value;
  throw new InvalidStreamMessage(`${name} is not an integer from ${min} to ${MAX_SEQ}`);
}

/** Whether a value is a probability. */
export function isScore(value: number): boolean {
  return value >= 0 && value <= 1;
}

/** Whether a value is a duration in milliseconds. */
export function isLatency(value: number): boolean {
  return value >= 0 && value < Infinity;
}
