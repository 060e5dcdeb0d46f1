import fc from 'fast-check';
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

it('finds a word after any single slip in it', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...KNOWN),
      fc.nat(),
      fc.constantFrom('drop', 'double', 'swap'),
      (word, at, slip) => {
        const index = at % (word.length - 1);
        const letters = [...word];
        if (slip === 'drop') letters.splice(index, 1);
        else if (slip === 'double') letters.splice(index, 0, letters[index]!);
        else letters.splice(index, 2, letters[index + 1]!, letters[index]!);
        expect(nearest(letters.join(''), KNOWN)).toBe(word);
      },
    ),
  );
});
