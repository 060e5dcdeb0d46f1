import { status } from '@grpc/grpc-js';
import { RequestError, type RequestErrorCode } from '../contract/request-error.ts';

/** The status of a call that ends without a reply. */
export interface CallStatus {
  readonly code: status;
  readonly details: string;
}

/** The gRPC status of each request error (https://grpc.io/docs/guides/status-codes/), as Triton assigns them. */
const STATUS: Readonly<Record<RequestErrorCode, status>> = {
  MISSING_PAYLOAD: status.INVALID_ARGUMENT,
  INVALID_CONVERSATION: status.INVALID_ARGUMENT,
  INVALID_ROLE: status.INVALID_ARGUMENT,
  EMPTY_CONTENT: status.INVALID_ARGUMENT,
  UNSUPPORTED_AUDIO_TYPE: status.INVALID_ARGUMENT,
  SEQUENCE_OVERFLOW: status.INVALID_ARGUMENT,
  GUARD_REJECTED: status.INVALID_ARGUMENT,
  // The request is valid; the server lacks what it needs.
  PROBE_NOT_LOADED: status.FAILED_PRECONDITION,
  INVALID_REQUEST: status.INVALID_ARGUMENT,
  MODEL_NOT_FOUND: status.NOT_FOUND,
  UNAVAILABLE: status.UNAVAILABLE,
  EXECUTION_FAILED: status.INTERNAL,
  LOAD_FAILED: status.INTERNAL,
  NOT_SUPPORTED: status.UNIMPLEMENTED,
};

/** The gRPC status of a failed call. Only the text of a RequestError reaches the client. */
export function statusOf(error: unknown): CallStatus {
  if (error instanceof RequestError) return { code: STATUS[error.code], details: error.message };
  return { code: status.INTERNAL, details: 'the server failed on this request' };
}
