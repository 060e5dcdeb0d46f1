import type { IncomingHttpHeaders } from 'node:http';
import { status } from '@grpc/grpc-js';
import type { Modality } from '../../domain/request.ts';
import { CallError, type Fault } from '../protocol/call-error.ts';
import { type StatusName, statusOfCloseCode } from '../tensors/stream/stream-status.ts';
import {
  closeFault,
  connectionFault,
  grpcFault,
  httpFault,
  INVALID_REPLY,
  namesUnknownModel,
  TIMEOUT,
  UNKNOWN_MODEL,
  UNSUPPORTED_MEDIA,
} from './fault-table.ts';
import { namedError } from './named-errors.ts';

/**
 * Converts the errors of each transport to faults. A server's text is truncated before it is examined: it may be long,
 * and may quote content. It is used nowhere else.
 */

/** Max length of a server's text that is examined, in UTF-16 code units or bytes. Its meaning is at its beginning. */
const MAX_TEXT = 4096;

/** Statuses that a model uses for one request. Only with these can a message name one of the contract's failures. */
const MODEL_STATUSES: ReadonlySet<number> = new Set([
  status.INVALID_ARGUMENT,
  status.FAILED_PRECONDITION,
  status.OUT_OF_RANGE,
  status.INTERNAL,
  status.UNKNOWN,
  status.UNIMPLEMENTED,
]);
/** Like MODEL_STATUSES, over HTTP. */
const MODEL_HTTP_STATUSES: ReadonlySet<number> = new Set([400, 413, 415, 422, 500, 501]);

/** The status with which grpc-js, client or server, reports a message over its size limit. */
const OVER_LIMIT_STATUS: number = status.RESOURCE_EXHAUSTED;
const OVER_LIMIT = /^Received message (larger than max|that decompresses to a size larger than)/;

/** Max Retry-After to honor, in milliseconds. */
const MAX_RETRY_AFTER_MS = 24 * 3_600_000;

/**
 * Classifies a gRPC status and its message. `hasStarted`: the guard had started to reply, so a message over the size
 * limit was its reply and not our request.
 */
export function classifyGrpc(code: number, text: string, hasStarted = false): Fault {
  const details = text.slice(0, MAX_TEXT);
  if (hasStarted && code === OVER_LIMIT_STATUS && OVER_LIMIT.test(details)) return INVALID_REPLY;
  const named = MODEL_STATUSES.has(code) ? namedError(details) : null;
  return named === null ? grpcFault(code, details) : { kind: 'refused', code: named, named: true };
}

/** Classifies the status of a call about the model, which has no content that a message could quote. */
export function classifyGrpcProbe(code: number, text: string): Fault {
  return namesUnknownModel(code, text.slice(0, MAX_TEXT)) ? UNKNOWN_MODEL : classifyGrpc(code, text);
}

interface HttpFailure {
  /** HTTP status, not 2xx. */
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Null if there is no body. */
  readonly body: Buffer | null;
  /** Subject of the path or, for a KServe server, of the call. */
  readonly about: Modality | 'server' | 'model';
}

/** Classifies an error reply over HTTP. */
export function classifyHttp({ status: code, headers, body, about }: HttpFailure): Fault {
  const text = body?.toString('utf8', 0, MAX_TEXT) ?? '';
  const named = MODEL_HTTP_STATUSES.has(code) ? namedError(text) : null;
  if (named !== null) return { kind: 'refused', code: named, named: true };
  const isKserve = about === 'server' || about === 'model';
  if (code === 404 && about === 'model') return UNKNOWN_MODEL;
  if (code === 415 && !isKserve) return { kind: 'refused', code: UNSUPPORTED_MEDIA[about], named: false };
  const fault = httpFault(code, isKserve ? text : null);
  const isBusy = code === 429 || (code === 503 && fault.kind === 'attempt');
  const waitMs = isBusy ? retryAfterMs(headers['retry-after']) : null;
  return code === 429 || waitMs !== null ? { kind: 'rate', retryAfterMs: waitMs } : fault;
}

/**
 * Converts a Retry-After header, seconds or an HTTP date, to milliseconds from now. Null when it is missing or
 * malformed.
 */
export function retryAfterMs(header: string | undefined, now: number = Date.now()): number | null {
  const text = header?.trim() ?? '';
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS);
}

/** The error for a reply that does not follow the protocol. */
export function unreadableReply(): CallError {
  return new CallError('unreadable reply', INVALID_REPLY);
}

export function httpFailed(failure: HttpFailure): CallError {
  return new CallError(`HTTP status ${failure.status}`, classifyHttp(failure));
}

/** The error for a connection that ended without a reply. The original error is dropped: the fault has its meaning. */
export function connectionFailed(error: unknown): CallError {
  return new CallError('the connection failed', connectionFault(codeOf(error)));
}

/** The error for a stream over a WebSocket that the server ended with an error message. */
export function streamFailed(name: StatusName, text: string): CallError {
  return new CallError(`status ${name}`, classifyGrpc(status[name], text));
}

/** The error for a WebSocket that the server closed with a code other than 1000, and without an error message. */
export function socketClosed(code: number): CallError {
  const name = statusOfCloseCode(code);
  return name === null ? new CallError(`close code ${code}`, closeFault(code)) : streamFailed(name, '');
}

/**
 * The error for a WebSocket that failed, or was never opened. The original error is dropped: its text could quote the
 * server.
 */
export function socketFailed(error: Error): CallError {
  const code = codeOf(error);
  // `ws` received a frame that is too long or malformed.
  if (code.startsWith('WS_ERR_')) return new CallError('unreadable message', INVALID_REPLY);
  if (/handshake has timed out/i.test(error.message)) return new CallError('no answer in time', TIMEOUT);
  // The reply to the handshake came from a server that does not speak the protocol.
  return code === '' ? new CallError('no WebSocket', INVALID_REPLY) : connectionFailed(error);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
