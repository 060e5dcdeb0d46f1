import { expect, it } from 'vitest';
import { isLoopback } from '../../src/domain/access.ts';

it.each('localhost LOCALHOST 127.0.0.1 127.9.8.7 ::1 [::1] 0:0:0:0:0:0:0:1 ::ffff:127.0.0.1'.split(' '))(
  '%s is this machine',
  (host) => expect(isLoopback(host)).toBe(true),
);

const OTHERS = 'redis localhost.example 127.0.0.1.example 0.0.0.0 :: 10.0.0.1 128.0.0.1 127.1.2.999'.split(
  ' ',
);

it.each(['', ...OTHERS])('%j may be another', (host) => expect(isLoopback(host)).toBe(false));
