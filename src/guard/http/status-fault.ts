import type { IncomingHttpHeaders } from 'node:http';
import type { Fault } from '../protocol/call-error.ts';
import { retryAfterMs } from './retry-after.ts';

/** What a status that is not 2xx means by RFC 9110, whatever the protocol and the request. */
export function statusFault(status: number, headers: IncomingHttpHeaders): Fault {
  if (status >= 300 && status < 400) return { kind: 'barred', reason: 'redirects elsewhere', fatal: false };
  switch (status) {
    case 401:
    case 403:
    case 407:
      return { kind: 'barred', reason: 'not authorised', fatal: true };
    case 404:
    case 405:
    case 410:
      return { kind: 'barred', reason: 'unknown path', fatal: false };
    case 408:
    case 504:
      return { kind: 'attempt', code: 'TIMEOUT' };
    case 413:
      return { kind: 'too-large' };
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
      return status >= 500
        ? { kind: 'attempt', code: 'GUARD_INTERNAL' }
        : { kind: 'refused', code: 'GUARD_REJECTED', named: false };
  }
}
