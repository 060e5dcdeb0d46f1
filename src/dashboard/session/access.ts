import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { bearerIn, isSameToken } from '../../http/bearer-token.ts';
import { DashboardError } from '../errors.ts';
import type { Session, Sessions } from './sessions.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route works without a session. */
    isPublic?: boolean;
  }
  interface FastifyRequest {
    /** Null on public routes, and for programs, which send the token with each request. */
    session: Session | null;
    /** Whether the client may release restricted items. */
    mayRelease: boolean;
  }
}

export interface AccessParts {
  /** Token that opens the dashboard. */
  readonly token: string;
  /** Token that also opens it, with the right to release restricted items; null if they cannot be released. */
  readonly releaseToken: string | null;
  readonly sessions: Sessions;
  readonly failedLogins: FailedLogins;
}

const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Header of requests that change something, see Session.pageKey. */
const PAGE_KEY_HEADER = 'x-page-key';

/** `Sec-Fetch-Site` of requests from our pages, from the address bar, and from programs. */
const OWN: ReadonlySet<unknown> = new Set(['same-origin', 'none', undefined]);

const OTHER_SITE = new DashboardError('FORBIDDEN', 'requests from other sites are refused');

const LOG_IN = new DashboardError('UNAUTHORIZED', 'log in first');

/**
 * Rejects requests to non-public routes without a session or the token, and requests that change something unless they
 * come from our own pages or carry the token. The HTTP server has already checked Host, and that an Origin is ours.
 */
export function addAccessRules(app: FastifyInstance, parts: AccessParts): void {
  app.decorateRequest('session', null);
  app.decorateRequest('mayRelease', false);
  app.addHook('onRequest', async (request) => {
    const bearer = bearerIn(request.headers.authorization);
    if (!READING.has(request.method)) assertFromPage(request, bearer);
    if (request.routeOptions.config?.isPublic === true) return;
    if (bearer !== null) request.mayRelease = rightsOf(bearer, request, parts).mayRelease;
    else {
      request.session = sessionOf(request, parts);
      request.mayRelease = request.session.mayRelease;
    }
  });
}

/** Rights of a token. Throws if it is wrong; TOO_MANY_REQUESTS after too many wrong ones. */
export function rightsOf(
  given: string,
  { socket }: Pick<FastifyRequest, 'socket'>,
  { token, releaseToken, failedLogins }: AccessParts,
): { readonly mayRelease: boolean } {
  // The right token is never rejected: others behind the same proxy, or on the same machine, may have tried wrong ones.
  if (releaseToken !== null && isSameToken(given, releaseToken)) return { mayRelease: true };
  if (isSameToken(given, token)) return { mayRelease: false };
  const address = socket.remoteAddress ?? '';
  if (!failedLogins.note(address))
    throw new DashboardError('TOO_MANY_REQUESTS', 'too many wrong tokens: wait a minute');
  throw new DashboardError('UNAUTHORIZED', 'the token is wrong');
}

/**
 * Browsers send Origin with every such request, and another site's page may send this content type only after a
 * preflight. A request with the token in a header does not come from a browser that was tricked.
 */
function assertFromPage({ headers }: FastifyRequest, bearer: string | null): void {
  if (headers.origin === undefined && bearer === null) {
    throw new DashboardError('FORBIDDEN', 'the request has no Origin');
  }
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1);
  if (type.trim().toLowerCase() !== 'application/json') {
    throw new DashboardError('UNSUPPORTED_TYPE', 'the content type must be application/json');
  }
}

/**
 * Checks `Sec-Fetch-Site`, because pages of other ports on this host send the cookie, and some of their reads have no
 * Origin.
 */
function sessionOf({ raw, method, headers }: FastifyRequest, { sessions }: AccessParts): Session {
  if (!OWN.has(headers['sec-fetch-site'])) throw OTHER_SITE;
  const session = sessions.find(raw);
  if (session === null || !(READING.has(method) || hasPageKey(headers, session))) throw LOG_IN;
  return session;
}

function hasPageKey({ [PAGE_KEY_HEADER]: given }: IncomingHttpHeaders, { pageKey }: Session): boolean {
  return typeof given === 'string' && isSameToken(given, pageKey);
}

/** Maximum wrong tokens from one address within the window. */
const MAX_FAILURES = 10;
const WINDOW_MS = 60_000;

/** When there are more, the oldest is forgotten. */
const MAX_ADDRESSES = 4096;

/** Counts wrong tokens by address: after 10, further ones are rejected for the rest of the minute. */
export class FailedLogins {
  readonly #byAddress = new Map<string, { count: number; readonly since: number }>();

  /** Counts a wrong token. Returns false if there were too many within the minute. */
  note(address: string): boolean {
    const now = performance.now();
    const known = this.#byAddress.get(address);
    if (known !== undefined && now - known.since < WINDOW_MS) return ++known.count <= MAX_FAILURES;
    this.#byAddress.delete(address);
    this.#byAddress.set(address, { count: 1, since: now });
    const [oldest] = this.#byAddress.keys();
    if (this.#byAddress.size > MAX_ADDRESSES) this.#byAddress.delete(oldest!);
    return true;
  }
}
