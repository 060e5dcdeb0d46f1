import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Whether the value of an `authorization` header is `Bearer <token>`, the scheme in any case (RFC 9110, 11.1).
 * The comparison takes the same time for every token.
 */
export function bearsToken(authorization: string | undefined, token: string): boolean {
  const credentials = authorization ?? '';
  const [scheme] = /^bearer +/i.exec(credentials) ?? [];
  return scheme !== undefined && timingSafeEqual(sha256(credentials.slice(scheme.length)), sha256(token));
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
