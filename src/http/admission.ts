import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { isLoopback } from '../domain/loopback.ts';
import { bearsToken } from './bearer-token.ts';

interface AdmissionRules {
  /** Required of every request; null: no token is required. */
  readonly token: string | null;
  /** Whether the server listens on a loopback address. */
  readonly onLoopback: boolean;
  readonly maxBodyBytes: number;
}

/** The response to a request that its headers rule out. */
interface Refusal {
  readonly status: number;
  readonly headers?: OutgoingHttpHeaders;
  readonly text?: string;
}

/**
 * Checks a request by its headers, before a byte of its body is read; null: it is admitted.
 *
 * A web page in a browser on this machine can reach a loopback server that requires no token. There, Host must name this
 * machine, which it does not after DNS rebinding. An Origin, which browsers send with cross-origin requests, must always
 * be the server's own.
 */
export function refusalOf(headers: IncomingHttpHeaders, rules: AdmissionRules): Refusal | null {
  if (rules.token !== null && !bearsToken(headers.authorization, rules.token)) {
    return { status: 401, headers: { 'www-authenticate': 'Bearer' } };
  }
  const host = parseUrl(`http://${headers.host ?? ''}`);
  if (rules.token === null && rules.onLoopback && !isLoopback(host?.hostname ?? '')) {
    return { status: 403, text: 'the Host header does not name this machine\n' };
  }
  if (headers.origin !== undefined && parseUrl(headers.origin)?.host !== (host?.host ?? '')) {
    return { status: 403, text: 'requests from other sites are refused\n' };
  }
  // This check suffices for a body of declared length: the parser enforces that length.
  if (headers['transfer-encoding'] !== undefined) return { status: 411 };
  if (Number(headers['content-length'] ?? 0) > rules.maxBodyBytes) return { status: 413 };
  return null;
}

function parseUrl(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null;
}
