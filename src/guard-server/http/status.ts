import type { OutgoingHttpHeaders } from 'node:http';
import { RequestError, type RequestErrorCode } from '../contract/request-error.ts';
import { type Answer, jsonAnswer } from './answer.ts';

/** The HTTP status of each request error, as Triton assigns them: 400 for all that has no status of its own. */
const STATUS: Readonly<Record<RequestErrorCode, number>> = {
  MISSING_PAYLOAD: 400,
  INVALID_CONVERSATION: 400,
  INVALID_ROLE: 400,
  EMPTY_CONTENT: 400,
  UNSUPPORTED_AUDIO_TYPE: 400,
  SEQUENCE_OVERFLOW: 400,
  GUARD_REJECTED: 400,
  PROBE_NOT_LOADED: 400,
  INVALID_REQUEST: 400,
  MODEL_NOT_FOUND: 404,
  UNAVAILABLE: 503,
  EXECUTION_FAILED: 500,
  LOAD_FAILED: 500,
  NOT_SUPPORTED: 501,
};

/** A request that HTTP itself rules out, with the status to answer. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;

  constructor(status: number, message: string, headers: OutgoingHttpHeaders = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** For an error that leaves the rest of the body unread. */
export const CLOSES: OutgoingHttpHeaders = { connection: 'close' };

/** The answer to a request that failed: `{"error": "..."}`. Only the text of our own errors reaches the client. */
export function errorAnswer(error: unknown): Answer {
  if (error instanceof RequestError) return jsonAnswer({ error: error.message }, STATUS[error.code]);
  if (!(error instanceof HttpError)) return jsonAnswer({ error: 'the server failed on this request' }, 500);
  const answer = jsonAnswer({ error: error.message }, error.status);
  return { ...answer, headers: { ...answer.headers, ...error.headers } };
}
