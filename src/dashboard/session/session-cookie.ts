import type { IncomingMessage } from 'node:http';

/**
 * Browsers send the cookies of a host to all of its ports, so the name has the port: two dashboards on one machine do not
 * log each other out.
 */
function nameOf({ socket }: IncomingMessage): string {
  return `guardsweep-${socket.localPort}`;
}

/** The id in the session cookie of a request; null: there is none. */
export function sessionIdOf(request: IncomingMessage): string | null {
  const start = `${nameOf(request)}=`;
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(start))?.slice(start.length) ?? null;
}

/** The value of Set-Cookie that begins a session. `Secure` where the browser says that it came over https. */
export function beginning(request: IncomingMessage, id: string, seconds: number): string {
  return cookie(request, id, seconds);
}

/** The value of Set-Cookie that ends it. */
export function ending(request: IncomingMessage): string {
  return cookie(request, '', 0);
}

function cookie(request: IncomingMessage, value: string, seconds: number): string {
  const secure = request.headers.origin?.startsWith('https:') === true ? '; Secure' : '';
  return `${nameOf(request)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
}
