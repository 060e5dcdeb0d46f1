import { Metadata } from '@grpc/grpc-js';
import { describe, expect, test } from 'vitest';
import { carriesToken } from '../../../src/guard-server/grpc/admission.ts';

function given(authorization: string | null): Metadata {
  const metadata = new Metadata();
  if (authorization !== null) metadata.set('authorization', authorization);
  return metadata;
}

describe('a call with the token', () => {
  test.each(['Bearer secret', 'bearer secret', 'BEARER secret', 'bEaReR  secret'])(
    '%s is let in',
    (value) => {
      expect(carriesToken(given(value), 'secret')).toBe(true);
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
    expect(carriesToken(given(value), 'secret')).toBe(false);
  });
});
