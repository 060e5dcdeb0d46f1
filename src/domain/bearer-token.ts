import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Whether the value of an `authorization` header is `Bearer <token>`, the scheme in any case (RFC 9110, 11.1).
 * The time it takes says nothing about the token.
 */
export function bearsToken(authorization: string | undefined, token: string): boolean {
  const credentials = authorization ?? '';
  const [scheme] = /^bearer +/i.exec(credentials) ?? [];
  return scheme !== undefined && timingSafeEqual(sha256(credentials.slice(scheme.length)), sha256(token));
}

/** Whether a header can carry the token: printable ASCII without spaces, and not empty. */
export function isToken(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
