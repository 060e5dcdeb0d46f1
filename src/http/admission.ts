import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { isLoopback } from '../domain/access.ts';
import { bearsToken } from './bearer-token.ts';

/** Makes the JSON body of an error response. */
type ErrorBody = (status: number, text: string) => object;

export interface AdmissionRules {
  /** Required of every request as `authorization: Bearer <token>`, unless null. */
  readonly token: string | null;
  /** Whether Host must name this machine. */
  readonly ownHostOnly: boolean;
  readonly maxBodyBytes: number;
  /** Whether bodies without a declared length are admitted; their reader must then limit them. Default: 411. */
  readonly chunkedBodies?: boolean;
  /** Makes the JSON body of a rejection. Default: a line of text. */
  readonly errorBody?: ErrorBody;
}

/** The response to a request that is rejected by its headers. */
export interface Refusal {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string;
}

/**
 * Checks a request by its headers, before its body is read; null if it is admitted.
 *
 * A web page in a browser on this machine can reach a loopback server that requires no token. There, `ownHostOnly` is
 * set: after DNS rebinding, Host does not name this machine. An Origin, which browsers send with cross-origin requests,
 * must always be the server's own.
 */
export function refusalOf(headers: IncomingHttpHeaders, rules: AdmissionRules): Refusal | null {
  const reason = reasonToRefuse(headers, rules);
  if (reason === null) return null;
  const [status, text] = reason;
  const challenge = status === 401 ? { 'www-authenticate': 'Bearer' } : {};
  const { errorBody } = rules;
  const type = errorBody === undefined ? 'text/plain; charset=utf-8' : 'application/json';
  const body = errorBody === undefined ? `${text}\n` : JSON.stringify(errorBody(status, text));
  const described = { 'content-type': type, 'content-length': Buffer.byteLength(body) };
  return { status, headers: { ...challenge, ...described }, body };
}

function reasonToRefuse(headers: IncomingHttpHeaders, rules: AdmissionRules): [number, string] | null {
  if (rules.token !== null && !bearsToken(headers.authorization, rules.token)) {
    return [401, 'this server needs a bearer token'];
  }
  const host = parseUrl(`http://${headers.host ?? ''}`);
  if (rules.ownHostOnly && !isLoopback(host?.hostname ?? '')) {
    return [403, 'the Host header does not name this machine'];
  }
  if (headers.origin !== undefined && parseUrl(headers.origin)?.host !== (host?.host ?? '')) {
    return [403, 'requests from other sites are refused'];
  }
  const coding = headers['transfer-encoding']?.toLowerCase() ?? 'chunked';
  if (coding !== 'chunked') return [400, 'the only Transfer-Encoding is chunked'];
  if (rules.chunkedBodies !== true && headers['transfer-encoding'] !== undefined) {
    return [411, 'the length of the body must be declared'];
  }
  // This check suffices for a body of declared length, because the parser enforces that length.
  if (Number(headers['content-length'] ?? 0) > rules.maxBodyBytes) {
    return [413, `the body has more than ${rules.maxBodyBytes} bytes`];
  }
  return null;
}

function parseUrl(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null;
}
