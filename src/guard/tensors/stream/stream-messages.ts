import { z } from 'zod';
import { roundScore } from '../../protocol/answer.ts';

/**
 * The two messages of a moderation stream, protocol version `v1-alpha` of the guard's contract, as client and server
 * use them. They travel as tensors of ModelStreamInfer (stream-tensors.ts) or as JSON over a WebSocket
 * (stream-json.ts). Both have the same fields, which are checked here.
 */

/** How often the server gives a verdict: after a number of chunks, or of milliseconds. */
export interface Cadence {
  readonly unit: 'chunks' | 'ms';
  /** An integer above 0. */
  readonly every: number;
}

/** Message from client to server. */
export interface StreamRequest {
  /** Chosen by the client, at most MAX_STREAM_ID characters; may be empty. */
  readonly streamId: string;
  /** From 0 to 2^53 - 1, ascending within a stream. */
  readonly seq: number;
  /** The input that the text responds to. Required in the first message. */
  readonly prompt: string | null;
  /**
   * Text generated since the last message. Null or empty if there is none, as in a message that only ends the stream.
   */
  readonly chunk: string | null;
  /** Whether no further text follows. */
  readonly endOfStream: boolean;
  /** Set in the first message; null for the server's default. */
  readonly cadence: Cadence | null;
}

/** Message from server to client. */
export interface StreamVerdict {
  /** Everything up to this seq has been judged; NOTHING_JUDGED before the first chunk is. Never decreases. */
  readonly processedUntilSeq: number;
  /** Whether the judged text is hazardous. */
  readonly flagged: boolean;
  /** Whether the risk of the judged text is elevated although it is not flagged. */
  readonly needsCaution: boolean;
  /** Probability that the judged text is hazardous, 0 to 1; null if the server gives none. */
  readonly score: number | null;
  /** Time it took to judge, in milliseconds. */
  readonly latencyMs: number;
  /** Whether this is the verdict on the whole text, the last one of the stream. */
  readonly isFinal: boolean;
}

/** `processedUntilSeq` before the first chunk has been judged. */
export const NOTHING_JUDGED = -1;

/** Max length of a stream id, in UTF-16 code units. */
export const MAX_STREAM_ID = 256;

/** Max size of a prompt and of a chunk, in bytes of UTF-8. */
export const MAX_STREAM_TEXT_BYTES = 1024 * 1024;

/** Request parameters and JSON fields that set the cadence. */
export const CADENCE_NAMES = { chunks: 'cadence_chunks', ms: 'cadence_ms' } as const;

const text = z
  .string()
  .refine(
    (value) => Buffer.byteLength(value) <= MAX_STREAM_TEXT_BYTES,
    `more than ${MAX_STREAM_TEXT_BYTES} bytes`,
  );
const cadence = z.int().min(1).nullish();

const REQUEST = z.object({
  stream_id: z.string().max(MAX_STREAM_ID).nullish(),
  seq: z.int().min(0),
  prompt: text.nullish(),
  response_chunk: text.nullish(),
  end_of_stream: z.boolean().nullish(),
  cadence_chunks: cadence,
  cadence_ms: cadence,
});

const VERDICT = z.object({
  processed_until_seq: z.int().min(NOTHING_JUDGED),
  flagged: z.boolean(),
  needs_caution: z.boolean(),
  score: z.number().min(0).max(1).nullish(),
  latency_ms: z.number().min(0),
  is_final: z.boolean(),
});

/** A message that is not a valid StreamRequest or StreamVerdict. Its text names the fault and quotes nothing. */
export class InvalidStreamMessage extends Error {
  override readonly name = 'InvalidStreamMessage';
}

/** The fields of a request on the wire; undefined for omitted ones. */
export function requestFields(request: StreamRequest): z.input<typeof REQUEST> {
  return {
    stream_id: request.streamId === '' ? undefined : request.streamId,
    seq: request.seq,
    prompt: request.prompt ?? undefined,
    response_chunk: request.chunk ?? undefined,
    end_of_stream: request.endOfStream,
    ...(request.cadence && { [CADENCE_NAMES[request.cadence.unit]]: request.cadence.every }),
  };
}

/** Reads the fields of a request. Throws InvalidStreamMessage. */
export function parseRequest(fields: Readonly<Record<string, unknown>>): StreamRequest {
  // Otherwise nobody would notice that a stream has another cadence than its client meant.
  const isOdd = (name: string): boolean => /cadence/i.test(name) && !Object.hasOwn(REQUEST.shape, name);
  if (Object.keys(fields).some(isOdd))
    throw new InvalidStreamMessage('a parameter is like cadence_chunks or cadence_ms, but neither');
  const message = parse(REQUEST, fields);
  const { cadence_chunks: chunks = null, cadence_ms: ms = null } = message;
  if (chunks !== null && ms !== null)
    throw new InvalidStreamMessage('cadence_chunks and cadence_ms exclude each other');
  const every = chunks ?? ms;
  return {
    streamId: message.stream_id ?? '',
    seq: message.seq,
    prompt: message.prompt ?? null,
    chunk: message.response_chunk ?? null,
    endOfStream: message.end_of_stream ?? false,
    cadence: every === null ? null : { unit: chunks === null ? 'ms' : 'chunks', every },
  };
}

/** The fields of a verdict on the wire; undefined for omitted ones. */
export function verdictFields(verdict: StreamVerdict): z.input<typeof VERDICT> {
  return {
    processed_until_seq: verdict.processedUntilSeq,
    flagged: verdict.flagged,
    needs_caution: verdict.needsCaution,
    score: verdict.score ?? undefined,
    latency_ms: verdict.latencyMs,
    is_final: verdict.isFinal,
  };
}

/** Reads the fields of a verdict. Throws InvalidStreamMessage. */
export function parseVerdict(fields: Readonly<Record<string, unknown>>): StreamVerdict {
  const message = parse(VERDICT, fields);
  return {
    processedUntilSeq: message.processed_until_seq,
    flagged: message.flagged,
    needsCaution: message.needs_caution,
    score: message.score == null ? null : roundScore(message.score),
    latencyMs: message.latency_ms,
    isFinal: message.is_final,
  };
}

function parse<T>(schema: z.ZodType<T>, fields: Readonly<Record<string, unknown>>): T {
  const parsed = schema.safeParse(fields);
  if (parsed.success) return parsed.data;
  const [{ path, message }] = parsed.error.issues as [z.core.$ZodIssue];
  throw new InvalidStreamMessage(`${path.join('.')}: ${message}`);
}
