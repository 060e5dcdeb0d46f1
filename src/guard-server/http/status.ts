import type { ErrorResponse } from '../../http/app.ts';
import { RequestError, type RequestErrorCode } from '../contract/request-error.ts';

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

/** The response to a request error; null: it is none. */
export function errorOf(error: unknown): ErrorResponse | null {
  return error instanceof RequestError
    ? { status: STATUS[error.code], body: { error: error.message } }
    : null;
}
