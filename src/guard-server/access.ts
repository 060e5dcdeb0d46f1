import { timingSafeEqual, createHash } from 'node:crypto';
import { status, type Metadata } from '@grpc/grpc-js';
import { RequestError } from './request-error.ts';

/** Whether an address can be reached from this machine only. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/**
 * Throws RequestError (UNAUTHENTICATED) unless the call carries `authorization: Bearer <token>`, the scheme in any case (RFC
 * 9110, 11.1).
 */
export function checkToken(metadata: Metadata, token: string): void {
  const [given] = metadata.get('authorization');
  const credentials = typeof given === 'string' ? given : '';
  const [scheme] = /^bearer +/i.exec(credentials) ?? [];
  if (scheme === undefined || !timingSafeEqual(sha256(credentials.slice(scheme.length)), sha256(token))) {
    throw new RequestError(status.UNAUTHENTICATED, 'this server needs a bearer token');
  }
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
