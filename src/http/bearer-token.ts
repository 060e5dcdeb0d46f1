import { createHash, timingSafeEqual } from 'node:crypto';

/** Reads the token in an `authorization` header, `Bearer <token>`, with the scheme in any case (RFC 9110, 11.1). */
export function bearerIn(authorization: string | undefined): string | null {
  const credentials = authorization ?? '';
  const [scheme] = /^bearer +/i.exec(credentials) ?? [];
  return scheme === undefined ? null : credentials.slice(scheme.length);
}

/** Whether a header carries the token. */
export function bearsToken(authorization: string | undefined, token: string): boolean {
  const given = bearerIn(authorization);
  return given !== null && isSameToken(given, token);
}

/** Compares two tokens in constant time. */
export function isSameToken(given: string, token: string): boolean {
  return timingSafeEqual(sha256(given), sha256(token));
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
