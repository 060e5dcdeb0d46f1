import type { IncomingHttpHeaders } from 'node:http';
import type { ItemCode } from '../../domain/item-error.ts';
import type { Modality } from '../../domain/request.ts';
import type { Fault } from '../protocol/call-error.ts';
import { retryAfterMs } from '../http/retry-after.ts';
import { namedError } from '../protocol/named-errors.ts';

/** Statuses a guard uses for one request. Only with these can a body name one of the contract's failures. */
const REQUEST_STATUSES: ReadonlySet<number> = new Set([400, 413, 415, 422, 500, 501]);

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
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Of the path that was called. */
  readonly modality: Modality;
}

/** Classifies an error reply by RFC 9110. Its body is not used anywhere else. */
export function classifyHttp({ status, headers, body, modality }: HttpFailure): Fault {
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
      return { kind: 'rate', retryAfterMs: retryAfterMs(headers['retry-after']) };
    case 503: {
      const waitMs = retryAfterMs(headers['retry-after']);
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
