import type { ItemCode, ItemError } from '../../domain/item-error.ts';

/** Stable codes of the gateway's errors: those of items, and those of requests that never became one. */
export type ErrorCode =
  | ItemCode
  | 'INVALID_REQUEST'
  | 'UNAUTHORIZED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'TOO_MANY_REQUESTS';

/** The HTTP status of every code. */
export const STATUS: Readonly<Record<ErrorCode, number>> = {
  INVALID_REQUEST: 400,
  INVALID_ENCODING: 400,
  MALFORMED_ROW: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  ITEM_TOO_LARGE: 413,
  MEDIA_TOO_LARGE: 413,
  UNSUPPORTED_AUDIO_TYPE: 415,
  UNSUPPORTED_TYPE: 415,
  MISSING_PAYLOAD: 422,
  EMPTY_CONTENT: 422,
  SEQUENCE_OVERFLOW: 422,
  INVALID_CONVERSATION: 422,
  INVALID_ROLE: 422,
  CORRUPT_MEDIA: 422,
  GUARD_REJECTED: 422,
  TOO_MANY_REQUESTS: 429,
  GUARD_OVERLOADED: 429,
  GUARD_INTERNAL: 500,
  INTERNAL: 500,
  INVALID_REPLY: 500,
  UNREADABLE_SOURCE: 500,
  SOURCE_CHANGED: 500,
  PROBE_NOT_LOADED: 501,
  GUARD_UNAVAILABLE: 503,
  TIMEOUT: 504,
};

/** Retry-After of the codes that resolve by themselves, in seconds. */
export const RETRY_AFTER_SECONDS: Readonly<Partial<Record<ErrorCode, number>>> = {
  TOO_MANY_REQUESTS: 1,
  GUARD_OVERLOADED: 5,
  GUARD_UNAVAILABLE: 5,
};

/** An answer other than a verdict. The message never quotes content. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }

  get status(): number {
    return STATUS[this.code];
  }

  get headers(): Record<string, number> {
    const seconds = RETRY_AFTER_SECONDS[this.code];
    return seconds === undefined ? {} : { 'retry-after': seconds };
  }

  get body(): { readonly error: { readonly code: ErrorCode; readonly message: string } } {
    return { error: { code: this.code, message: this.message } };
  }
}

/** The answer to a request whose item ended in an error. */
export function errorOfItem({ code, message, reason }: ItemError): ApiError {
  // Sending the clip again would not help: to this server its type is unsupported.
  if (reason === 'ffmpeg_missing') {
    return new ApiError(
      'UNSUPPORTED_AUDIO_TYPE',
      'this server cannot decode audio of this type: ffmpeg is not installed on it',
    );
  }
  return new ApiError(code, message);
}
