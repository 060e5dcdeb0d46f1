import { status } from '@grpc/grpc-js';
import type { ItemCode } from '../../domain/item-error.ts';
import type { Modality } from '../../domain/request.ts';
import type { Fault, OutReason } from '../protocol/call-error.ts';
import { MODEL_NAME } from '../tensors/protocol.ts';

/** Meanings of the errors of servers, proxies and networks, for every transport. None of them quotes content. */

export const INVALID_REPLY: Fault = { kind: 'refused', code: 'INVALID_REPLY', named: false };
export const TIMEOUT: Fault = { kind: 'attempt', code: 'TIMEOUT' };
const REFUSED: Fault = { kind: 'refused', code: 'GUARD_REJECTED', named: false };
const GUARD_FAILED: Fault = { kind: 'attempt', code: 'GUARD_INTERNAL' };
const UNAVAILABLE: Fault = { kind: 'attempt', code: 'GUARD_UNAVAILABLE' };
const OVERLOAD: Fault = { kind: 'overload' };
const TOO_LARGE: Fault = { kind: 'too-large' };
export const UNKNOWN_MODEL = barred('unknown model', false);
const UNKNOWN_PATH = barred('unknown path', false);
const NOT_AUTHORISED = barred('not authorised', true);
const REDIRECTED = barred('redirects elsewhere', false);
export const NO_CONNECTION = out('no connection', false);
const CONNECTION_LOST = out('connection lost', true);
const NOT_TRUSTED = out('certificate not trusted', false);
const CERTIFICATE_REFUSED = out('certificate refused', false);

function out(reason: OutReason, reached: boolean): Fault {
  return { kind: 'endpoint', reason, reached };
}

function barred(reason: OutReason, fatal: boolean): Fault {
  return { kind: 'barred', reason, fatal };
}

/** Faults by substrings of an error's text, in lower case. Plain searches, which are linear in any text. */
type TextMeanings = readonly (readonly [parts: readonly string[], fault: Fault])[];

/** Triton's core: a server or model is not available. */
const UNAVAILABLE_TEXTS: TextMeanings = [
  [['exceeds maximum queue size', 'request timeout expired'], OVERLOAD],
  [['shutting down', 'server is stopping', 'server exiting'], out('shutting down', false)],
  [['not at ready state', 'server not ready'], out('not ready', false)],
];

/** Triton's Python backend: an error inside it. */
const INTERNAL_TEXTS: TextMeanings = [
  [['is not healthy'], out('model process unhealthy', true)],
  [['failed to process the request(s) for model'], { kind: 'execution' }],
];

/** grpc-js 1.14: connection errors. */
const CONNECTION_TEXTS: TextMeanings = [
  [['stream refused'], out('shutting down', false)],
  [
    [
      'no connection established',
      'name resolution failed',
      'failed to start http/2 stream',
      'channel closed',
    ],
    NO_CONNECTION,
  ],
  [['connection dropped', 'econnreset', 'etimedout', 'epipe'], CONNECTION_LOST],
];

/** Texts by gRPC status. INTERNAL also comes from Node's HTTP/2 client, which then fails all calls of a connection. */
const GRPC_TEXTS: Readonly<Partial<Record<status, TextMeanings>>> = {
  [status.UNAVAILABLE]: UNAVAILABLE_TEXTS,
  [status.RESOURCE_EXHAUSTED]: [[['larger than', 'message size', 'message length', 'too large'], TOO_LARGE]],
  [status.INTERNAL]: [[['internal client error'], CONNECTION_LOST], ...INTERNAL_TEXTS],
};

/** Texts by HTTP status. */
const HTTP_TEXTS: Readonly<Partial<Record<number, TextMeanings>>> = {
  500: INTERNAL_TEXTS,
  503: UNAVAILABLE_TEXTS,
};

/**
 * gRPC statuses by their meaning in https://grpc.io/docs/guides/status-codes/; any other means that the guard failed.
 */
const GRPC_STATUSES: Readonly<Partial<Record<status, Fault>>> = {
  [status.UNAVAILABLE]: UNAVAILABLE,
  [status.NOT_FOUND]: UNKNOWN_MODEL,
  [status.UNAUTHENTICATED]: NOT_AUTHORISED,
  [status.PERMISSION_DENIED]: NOT_AUTHORISED,
  [status.RESOURCE_EXHAUSTED]: OVERLOAD,
  [status.DEADLINE_EXCEEDED]: TIMEOUT,
  [status.INVALID_ARGUMENT]: REFUSED,
  [status.FAILED_PRECONDITION]: REFUSED,
  [status.OUT_OF_RANGE]: REFUSED,
  [status.ALREADY_EXISTS]: REFUSED,
  [status.UNIMPLEMENTED]: REFUSED,
};

/** HTTP statuses by RFC 9110. Others: from 500, the guard failed; from 300, it redirects; below that, it refused. */
const HTTP_STATUSES: Readonly<Partial<Record<number, Fault>>> = {
  401: NOT_AUTHORISED,
  403: NOT_AUTHORISED,
  407: NOT_AUTHORISED,
  404: UNKNOWN_PATH,
  405: UNKNOWN_PATH,
  410: UNKNOWN_PATH,
  408: TIMEOUT,
  504: TIMEOUT,
  413: TOO_LARGE,
  502: UNAVAILABLE,
  503: UNAVAILABLE,
};

/** Meaning of 415 (Unsupported Media Type) by modality. */
export const UNSUPPORTED_MEDIA: Readonly<Record<Modality, ItemCode>> = {
  text: 'GUARD_REJECTED',
  image: 'UNSUPPORTED_TYPE',
  audio: 'UNSUPPORTED_AUDIO_TYPE',
};

/**
 * Close codes of RFC 6455 and the IANA registry, by their meaning for the stream; any other means that the connection
 * was lost. With 1002 to 1010, the server found our messages wrong: protocol error, type of data, not UTF-8, policy, a
 * missing extension.
 */
const CLOSE_CODES: Readonly<Partial<Record<number, Fault>>> = {
  1001: out('shutting down', true),
  1002: REFUSED,
  1003: REFUSED,
  1005: INVALID_REPLY,
  1007: REFUSED,
  1008: REFUSED,
  1009: TOO_LARGE,
  1010: REFUSED,
  1011: GUARD_FAILED,
  1012: UNAVAILABLE,
  1013: OVERLOAD,
  1014: UNAVAILABLE,
};

/** Node error codes from before a connection exists. With any other code, the request may have been running. */
const NOT_CONNECTED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPROTO',
]);
/** Error codes of Node and OpenSSL for an untrusted certificate. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|HOSTNAME_MISMATCH/;

/** grpc-js prefix for the error of Node or OpenSSL that prevented a connection. */
const NO_CONNECTION_TEXT = 'no connection established';
const ALERT = ' alert ';

/**
 * Matches texts for an unknown model from servers without a status for it: MLServer, and the KServe SDK, whose
 * exceptions reach gRPC with their class before the text.
 */
const NAMES_UNKNOWN_MODEL = new RegExp(
  String.raw`^(?:Unexpected <class '[\w.]+'>: )?Model (?:with name )?${MODEL_NAME}\b.*(?:not found|does not exist)`,
);

export function grpcFault(code: status, text: string): Fault {
  const found = textFault(text, GRPC_TEXTS[code] ?? []);
  if (found !== null) return found;
  const connection = code === status.UNAVAILABLE ? connectionTextFault(text) : null;
  return connection ?? GRPC_STATUSES[code] ?? GUARD_FAILED;
}

/** `text` is null for a server whose error texts have no known meanings, and may quote content. */
export function httpFault(code: number, text: string | null): Fault {
  const found = text === null ? null : textFault(text, HTTP_TEXTS[code] ?? []);
  if (found !== null) return found;
  if (code >= 300 && code < 400) return REDIRECTED;
  return HTTP_STATUSES[code] ?? (code >= 500 ? GUARD_FAILED : REFUSED);
}

/** Classifies the close code of a WebSocket. */
export function closeFault(code: number): Fault {
  return CLOSE_CODES[code] ?? CONNECTION_LOST;
}

/** Classifies the code of a Node error that ended a request without a reply. */
export function connectionFault(code: string): Fault {
  // Node's or undici's HTTP parser: the reply is not HTTP, or its headers are too large.
  if (code.startsWith('HPE_') || code === 'UND_ERR_HEADERS_OVERFLOW') return INVALID_REPLY;
  const alertAt = code.startsWith('ERR_SSL_') ? code.indexOf('ALERT_') : -1;
  const alert = alertAt < 0 ? '' : code.slice(alertAt);
  if (alert.includes('CERTIFICATE') || alert.includes('UNKNOWN_CA')) return CERTIFICATE_REFUSED;
  if (CERTIFICATE.test(code)) return NOT_TRUSTED;
  return NOT_CONNECTED.has(code) || code.startsWith('ERR_SSL') ? NO_CONNECTION : CONNECTION_LOST;
}

/** Whether a server reports an unknown model with its own status. */
export function namesUnknownModel(code: status, text: string): boolean {
  return (
    [status.UNKNOWN, status.INVALID_ARGUMENT, status.INTERNAL].includes(code) &&
    NAMES_UNKNOWN_MODEL.test(text)
  );
}

/** The first fault with strings that the text contains; null if there is none. */
function textFault(text: string, meanings: TextMeanings): Fault | null {
  const lower = text.toLowerCase();
  return meanings.find(([parts]) => parts.some((part) => lower.includes(part)))?.[1] ?? null;
}

/**
 * A TLS alert means that the server rejects our certificate, or that we lack one; otherwise OpenSSL or Node rejects the
 * server's.
 */
function connectionTextFault(text: string): Fault | null {
  const lower = text.toLowerCase();
  const at = lower.indexOf(NO_CONNECTION_TEXT);
  if (at >= 0) {
    const cause = lower.slice(at);
    const alertAt = cause.indexOf(ALERT);
    const alert = alertAt < 0 ? '' : cause.slice(alertAt);
    if (alert.includes('certificate') || alert.includes('unknown ca')) return CERTIFICATE_REFUSED;
    if (alertAt < 0 && cause.includes('certificate')) return NOT_TRUSTED;
  }
  return textFault(text, CONNECTION_TEXTS);
}
