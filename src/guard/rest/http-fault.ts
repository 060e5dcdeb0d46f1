import type { ItemCode } from '../../domain/item-error.ts';
import type { Modality } from '../../domain/request.ts';
import type { Fault } from '../protocol/call-error.ts';
import { namedError } from '../protocol/named-errors.ts';

/** Statuses a guard uses for one request. Only with these can a body name one of the contract's failures. */
const REQUEST_STATUSES: ReadonlySet<number> = new Set([400, 413, 415, 422, 500, 501]);
/** Max Retry-After that is honored, in milliseconds. */
const MAX_RETRY_AFTER_MS = 24 * 3_600_000;

const REJECTED: Fault = { kind: 'refused', code: 'GUARD_REJECTED', named: false };

/** Meaning of 415 (Unsupported Media Type) by modality. */
const UNSUPPORTED: Readonly<Record<Modality, ItemCode>> = {
  text: 'GUARD_REJECTED',
  image: 'UNSUPPORTED_TYPE',
  audio: 'UNSUPPORTED_AUDIO_TYPE',
};

interface HttpFailure {
  /** Not 2xx. */
  readonly status: number;
  /** The Retry-After header as received. */
  readonly retryAfter: string | null;
  readonly body: string;
  /** Of the path that was called. */
  readonly modality: Modality;
}

/** Classifies an error reply by RFC 9110. Its body is not used anywhere else. */
export function classifyHttp({ status, retryAfter, body, modality }: HttpFailure): Fault {
  const named = REQUEST_STATUSES.has(status) ? namedError(body.trim()) : null;
  if (named !== null) return { kind: 'refused', code: named, named: true };
  if (status >= 300 && status < 400)
    return { kind: 'endpoint', reason: 'redirects elsewhere', reached: false };
  switch (status) {
    case 401:
    case 403:
    case 407:
      return { kind: 'fatal', reason: 'not authorised' };
    case 404:
    case 405:
    case 410:
      // The contract has one path per modality, and every guard has the one for texts.
      return modality === 'text'
        ? { kind: 'endpoint', reason: 'unknown path', reached: false }
        : { kind: 'refused', code: 'PROBE_NOT_LOADED', named: false };
    case 408:
    case 504:
      return { kind: 'attempt', code: 'TIMEOUT' };
    case 413:
      return { kind: 'too-large' };
    case 415:
      return { kind: 'refused', code: UNSUPPORTED[modality], named: false };
    case 429:
      return { kind: 'rate', retryAfterMs: retryAfterMs(retryAfter) };
    case 503: {
      const waitMs = retryAfterMs(retryAfter);
      return waitMs === null
        ? { kind: 'attempt', code: 'GUARD_UNAVAILABLE' }
        : { kind: 'rate', retryAfterMs: waitMs };
    }
    case 502:
      return { kind: 'attempt', code: 'GUARD_UNAVAILABLE' };
    default:
      return status >= 500 ? { kind: 'attempt', code: 'GUARD_INTERNAL' } : REJECTED;
  }
}

/** A Retry-After header, seconds or an HTTP date, in milliseconds from now. Null when it is missing or malformed. */
export function retryAfterMs(header: string | null, now: number = Date.now()): number | null {
  const text = header?.trim() ?? '';
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS);
}

/** Error codes of OpenSSL when the server rejects our certificate, or the lack of one. */
const REFUSED_CERTIFICATE = /^ERR_SSL_.*ALERT_.*(CERTIFICATE|UNKNOWN_CA)/;
/** Error codes of Node and OpenSSL for an untrusted certificate. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|HOSTNAME_MISMATCH/;
/** Error codes before a connection exists. With any other code the request may have been running. */
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

/** Classifies the code of a Node error that ended a request without a reply. */
export function connectionFault(code: string): Fault {
  // Node's HTTP parser: the reply is not HTTP, or its headers are too large.
  if (code.startsWith('HPE_')) return { kind: 'refused', code: 'INVALID_REPLY', named: false };
  if (REFUSED_CERTIFICATE.test(code)) {
    return { kind: 'endpoint', reason: 'certificate refused', reached: false };
  }
  if (CERTIFICATE.test(code)) {
    return { kind: 'endpoint', reason: 'certificate not trusted', reached: false };
  }
  const never = NOT_CONNECTED.has(code) || code.startsWith('ERR_SSL');
  return never
    ? { kind: 'endpoint', reason: 'no connection', reached: false }
    : { kind: 'endpoint', reason: 'connection lost', reached: true };
}
