import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** One working day. */
const LIFETIME_MS = 12 * 60 * 60 * 1000;

/** Maximum sessions; when another begins, the oldest ends. */
const MAX_SESSIONS = 256;

/** Session of a person who is logged in. */
export interface Session {
  /**
   * A second secret, sent by pages as a header. Browsers send cookies to every port of a host, so other servers there
   * may learn the cookie.
   */
  readonly pageKey: string;
  /** Whether the person may release restricted items. */
  readonly mayRelease: boolean;
  /** Name that the person gave; null if none. */
  reviewer: string | null;
}

/**
 * The sessions of a dashboard, by the hash of the secret in their cookie, so the duration of a lookup reveals nothing
 * about a secret.
 */
export class Sessions {
  readonly #lifetimeMs: number;
  readonly #sessions = new Map<string, Session & { readonly endsAt: number }>();

  constructor(lifetimeMs = LIFETIME_MS) {
    this.#lifetimeMs = lifetimeMs;
  }

  /** Begins a session. Returns the key for its page, and the value of Set-Cookie. */
  begin(
    request: IncomingMessage,
    session: Omit<Session, 'pageKey'>,
  ): { readonly pageKey: string; readonly cookie: string } {
    const [secret, pageKey] = [newSecret(), newSecret()];
    this.#sessions.set(keyOf(secret), { ...session, pageKey, endsAt: performance.now() + this.#lifetimeMs });
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > MAX_SESSIONS) this.#sessions.delete(oldest!);
    return { pageKey, cookie: formatCookie(request, secret, Math.floor(this.#lifetimeMs / 1000)) };
  }

  /** The session of a request; null if there is none or it has expired. */
  find(request: IncomingMessage): Session | null {
    const found = this.#sessions.get(keyOf(secretIn(request)));
    return found !== undefined && performance.now() < found.endsAt ? found : null;
  }

  /** Ends the session of a request. Returns the value of Set-Cookie that removes its cookie. */
  end(request: IncomingMessage): string {
    this.#sessions.delete(keyOf(secretIn(request)));
    return formatCookie(request, '', 0);
  }
}

/**
 * Name of the cookie. Browsers send a host's cookies to all of its ports, so the name includes the port; otherwise two
 * dashboards on one machine would log each other out.
 */
function cookieName({ socket }: IncomingMessage): string {
  return `guardsweep-${socket.localPort}`;
}

/** Returns an empty string if the request has no such cookie, which is not the secret of any session. */
function secretIn(request: IncomingMessage): string {
  const start = `${cookieName(request)}=`;
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(start))?.slice(start.length) ?? '';
}

/** Adds `Secure` if the page came over https, behind a proxy. */
function formatCookie(request: IncomingMessage, value: string, seconds: number): string {
  const secure = request.headers.origin?.startsWith('https:') === true ? '; Secure' : '';
  return `${cookieName(request)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
}

function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

function keyOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64');
}
