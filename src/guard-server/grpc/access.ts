import { status, type Metadata } from '@grpc/grpc-js';
import { bearsToken } from '../../domain/bearer-token.ts';
import { RequestError } from '../contract/request-error.ts';

/** Throws RequestError (UNAUTHENTICATED) unless the call carries `authorization: Bearer <token>`. */
export function checkToken(metadata: Metadata, token: string): void {
  const [given] = metadata.get('authorization');
  if (!bearsToken(typeof given === 'string' ? given : undefined, token)) {
    throw new RequestError(status.UNAUTHENTICATED, 'this server needs a bearer token');
  }
}
