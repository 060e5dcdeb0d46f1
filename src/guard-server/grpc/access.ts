import type { Metadata } from '@grpc/grpc-js';
import { bearsToken } from '../../http/bearer-token.ts';

/** Whether a call carries `authorization: Bearer <token>`. */
export function carriesToken(metadata: Metadata, token: string): boolean {
  const [given] = metadata.get('authorization');
  return bearsToken(typeof given === 'string' ? given : undefined, token);
}
