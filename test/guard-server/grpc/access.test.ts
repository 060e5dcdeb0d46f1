import { Metadata, status } from '@grpc/grpc-js';
import { describe, expect, test } from 'vitest';
import { checkToken } from '../../../src/guard-server/grpc/access.ts';

function given(authorization: string | null): Metadata {
  const metadata = new Metadata();
  if (authorization !== null) metadata.set('authorization', authorization);
  return metadata;
}

describe('a call with the token', () => {
  test.each(['Bearer secret', 'bearer secret', 'BEARER secret', 'bEaReR  secret'])(
    '%s is let in',
    (value) => {
      expect(() => checkToken(given(value), 'secret')).not.toThrow();
    },
  );
});

describe('a call without it', () => {
  test.each([
    null,
    '',
    'Bearer',
    'Bearer ',
    'Bearer Secret',
    'Bearer secret2',
    'Bearersecret',
    'Basic secret',
    'secret',
  ])('%s is refused', (value) => {
    expect(() => checkToken(given(value), 'secret')).toThrow(
      expect.objectContaining({ status: status.UNAUTHENTICATED }) as Error,
    );
  });
});
