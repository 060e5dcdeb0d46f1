import { Failure } from '../../domain/failure.ts';
import { HttpError } from '../../http/http-error.ts';
import { ApiError, type ErrorCode } from './errors.ts';

/** The codes of HTTP errors, by status. */
const BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  413: 'ITEM_TOO_LARGE',
  415: 'UNSUPPORTED_TYPE',
};

export const WRONG_TYPE = new ApiError(
  'UNSUPPORTED_TYPE',
  'the content type must be application/json for a text, and multipart/form-data for a file',
);

/** Errors of the multipart plugin, by code. All others are bugs of ours. */
const BY_CODE: Readonly<Record<string, ApiError>> = {
  FST_REQ_FILE_TOO_LARGE: new ApiError('MEDIA_TOO_LARGE', 'the file is too large'),
  FST_PROTO_VIOLATION: new ApiError('INVALID_REQUEST', 'the form has a field with an unknown name'),
  FST_INVALID_JSON_FIELD_ERROR: new ApiError('INVALID_REQUEST', 'a field of the form is not plain text'),
  FST_MP_PREMATURE_CLOSE: new ApiError('INVALID_REQUEST', 'the body ends before the form does'),
};

const TOO_MANY_PARTS = new ApiError('INVALID_REQUEST', 'the form has more than one file and one text');
const MALFORMED_FORM = new ApiError('INVALID_REQUEST', 'the body is not a well-formed multipart form');
const BUG = new ApiError('INTERNAL', 'the gateway failed');
const UNAVAILABLE = new ApiError('GUARD_UNAVAILABLE', 'the guards cannot be reached through this gateway');

/** The answer to any error. The message of an external error may quote the request, so it is dropped. */
export function apiErrorOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof HttpError)
    return new ApiError(BY_STATUS[error.status] ?? 'INVALID_REQUEST', error.message);
  if (error instanceof Failure) return error.kind === 'internal' ? BUG : UNAVAILABLE;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (/^FST_(PARTS|FILES|FIELDS)_LIMIT$/.test(code)) return TOO_MANY_PARTS;
  return BY_CODE[code] ?? BUG;
}

/** Returns an error that is a failure of this process, not of a guard or a request; null for any other error. */
export function internalFailure(error: unknown): Failure | null {
  return error instanceof Failure && error.kind === 'internal' ? error : null;
}

/** The answer to an error while a form was read: the form parser gives its errors no code. */
export function formErrorOf(error: unknown): ApiError {
  const known = apiErrorOf(error);
  const fromParser = known === BUG && error instanceof Error && !('syscall' in error);
  return fromParser ? MALFORMED_FORM : known;
}
