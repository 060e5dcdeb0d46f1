import { basename } from 'node:path';
import { Failure } from '../domain/failure.ts';
import { shownName } from '../domain/text/shown.ts';
import { FileTooLarge, NotAnOrdinaryFile } from '../files/open-file.ts';
import type { ApiFailure } from './api/runs.ts';

/** The HTTP status of every code of the dashboard's API. */
const STATUS = {
  INVALID_REQUEST: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  /** Not in the state that the run is in. */
  CONFLICT: 409,
  /** The item has a review that is newer than the one that was seen. */
  REVIEWED_MEANWHILE: 409,
  TOO_LARGE: 413,
  UNSUPPORTED_TYPE: 415,
  TOO_MANY_REQUESTS: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
} as const;

export type DashboardCode = keyof typeof STATUS;

/** An answer other than what was asked for. The message is for people, and never quotes content. */
export class DashboardError extends Error {
  override readonly name = 'DashboardError';
  readonly code: DashboardCode;
  /** Key of the body that is wrong, where that is known. */
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

/** The answer to a request that its headers rule out, with the status that the HTTP server chose. */
export function refusedByHeaders(status: number, message: string): DashboardError {
  const codes: Readonly<Record<number, DashboardCode>> = { 403: 'FORBIDDEN', 413: 'TOO_LARGE' };
  return new DashboardError(codes[status] ?? 'INVALID_REQUEST', message);
}

const BAD_URL = new DashboardError('NOT_FOUND', 'there is no such path');

/** Errors of Fastify, by their codes. */
const FOREIGN: Readonly<Record<string, DashboardError>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: new DashboardError(
    'UNSUPPORTED_TYPE',
    'the content type must be application/json',
  ),
  FST_ERR_CTP_BODY_TOO_LARGE: new DashboardError('TOO_LARGE', 'the body is too large'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: new DashboardError(
    'INVALID_REQUEST',
    'the body is not as long as declared',
  ),
  FST_ERR_BAD_URL: BAD_URL,
  FST_ERR_ASYNC_CONSTRAINT: BAD_URL,
  FST_ERR_MAX_PARAM_LENGTH: BAD_URL,
};

const BY_KIND: Readonly<Record<Failure['kind'], DashboardCode>> = {
  usage: 'INVALID_REQUEST',
  service: 'UNAVAILABLE',
  interrupted: 'UNAVAILABLE',
  superseded: 'CONFLICT',
  internal: 'INTERNAL',
};

/** The answer to any error; null for one that nobody foresaw, whose own message may quote content. */
export function knownErrorOf(error: unknown): DashboardError | null {
  if (error instanceof DashboardError) return error;
  if (error instanceof Failure) return new DashboardError(BY_KIND[error.kind], error.message);
  if (error instanceof NotAnOrdinaryFile || error instanceof FileTooLarge) {
    return new DashboardError(
      'UNAVAILABLE',
      `${shownName(basename(error.path))} cannot be read: ${error.message}`,
    );
  }
  const { code, path, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  if (syscall !== undefined && path !== undefined) {
    return new DashboardError('UNAVAILABLE', `${shownName(basename(path))} cannot be read (${code})`);
  }
  return FOREIGN[code ?? ''] ?? null;
}
