import { basename } from 'node:path';
import { Failure } from '../domain/failure.ts';
import { quoteName } from '../domain/text/escape-text.ts';
import { FileTooLargeError, NotRegularFileError } from '../files/open-file.ts';
import { BAD_PATH, HttpError } from '../http/http-error.ts';
import type { ApiFailure } from './api/runs.ts';

/** The HTTP status of every code of the dashboard's API. */
const STATUS = {
  INVALID_REQUEST: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  /** The run is in a state that does not allow the request. */
  CONFLICT: 409,
  /** The item has a newer review than the one the reviewer saw. */
  REVIEWED_MEANWHILE: 409,
  TOO_LARGE: 413,
  UNSUPPORTED_TYPE: 415,
  TOO_MANY_REQUESTS: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
} as const;

export type DashboardCode = keyof typeof STATUS;

/** An error answer with a human-readable message, which never quotes content. */
export class DashboardError extends Error {
  override readonly name = 'DashboardError';
  readonly code: DashboardCode;
  /** Key of the invalid part of the body, if known. */
  readonly field: string | undefined;

  constructor(code: DashboardCode, message: string, field?: string) {
    super(message);
    this.code = code;
    this.field = field;
  }

  get status(): number {
    return STATUS[this.code];
  }

  get body(): ApiFailure {
    const { code, message, field } = this;
    return { error: { code, message, field } };
  }
}

/** Error codes by HTTP status. */
const BY_STATUS: Readonly<Record<number, DashboardCode>> = {
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  413: 'TOO_LARGE',
  415: 'UNSUPPORTED_TYPE',
};

const BY_KIND: Readonly<Record<Failure['kind'], DashboardCode>> = {
  usage: 'INVALID_REQUEST',
  service: 'UNAVAILABLE',
  interrupted: 'UNAVAILABLE',
  superseded: 'CONFLICT',
  purged: 'CONFLICT',
  internal: 'INTERNAL',
};

/** Converts a known error to an answer; null for any other error, whose message may quote content. */
export function toDashboardError(error: unknown): DashboardError | null {
  if (error instanceof DashboardError) return error;
  if (error === BAD_PATH) return new DashboardError('NOT_FOUND', BAD_PATH.message);
  if (error instanceof HttpError)
    return new DashboardError(BY_STATUS[error.status] ?? 'INVALID_REQUEST', error.message);
  if (error instanceof Failure) return new DashboardError(BY_KIND[error.kind], error.message);
  if (error instanceof NotRegularFileError || error instanceof FileTooLargeError) {
    return new DashboardError(
      'UNAVAILABLE',
      `${quoteName(basename(error.path))} cannot be read: ${error.message}`,
    );
  }
  const { code, path, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  if (syscall !== undefined && path !== undefined) {
    return new DashboardError('UNAVAILABLE', `${quoteName(basename(path))} cannot be read (${code})`);
  }
  return null;
}
