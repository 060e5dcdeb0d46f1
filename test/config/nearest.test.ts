import { expect, it } from 'vitest';
import { nearest } from '../../src/config/usage-error.ts';

const KNOWN = ['name', 'sources', 'guard', 'policy', 'output', 'failIf', 'expectFingerprint', 'maxWait'];

it.each([
  ['nmae', 'name'],
  ['source', 'sources'],
  ['polciy', 'policy'],
  ['fail_if', 'failIf'],
  ['expect-fingerprint', 'expectFingerprint'],
  ['MAXWAIT', 'maxWait'],
  ['schedule', null],
  ['', null],
])('takes %j for %j', (word, meant) => {
  expect(nearest(word, KNOWN)).toBe(meant);
});
