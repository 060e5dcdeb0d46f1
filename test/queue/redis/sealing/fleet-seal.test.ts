import { createSecretKey } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FleetSeal, type SealedPlace } from '../../../../src/queue/redis/sealing/fleet-seal.ts';

const seal = new FleetSeal(createSecretKey('a'.repeat(64), 'utf8'));
const place: SealedPlace = { run: 'run-a', folder: 'results-run-a', name: 's-run-a-1-7-2' };
const ELSEWHERE: readonly SealedPlace[] = [
  { ...place, run: 'run-b' },
  { ...place, folder: 'shards-text' },
  { ...place, name: 's-run-a-1-7-3' },
  // The same characters, divided otherwise.
  { ...place, folder: 'results-run-as', name: '-run-a-1-7-2' },
];

it('opens what was sealed, in its place and under its key alone', () => {
  const other = new FleetSeal(createSecretKey('b'.repeat(64), 'utf8'));
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const sealed = seal.seal(place, text);
      expect(seal.open(place, sealed)).toBe(text);
      expect(other.open(place, sealed)).toBeNull();
      for (const elsewhere of ELSEWHERE) expect(seal.open(elsewhere, sealed)).toBeNull();
    }),
  );
});

it('does not open what was changed anywhere', () => {
  const sealed = Buffer.from(seal.seal(place, 'a comment'), 'base64');
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed);
    changed[at]! ^= 1;
    expect(seal.open(place, changed.toString('base64'))).toBeNull();
    expect(seal.open(place, sealed.subarray(0, at).toString('base64'))).toBeNull();
  }
});

it('says the same twice in other bytes, and shows nothing of it', () => {
  const [once, again] = [seal.seal(place, 'a comment'), seal.seal(place, 'a comment')];
  expect(once).not.toBe(again);
  expect(Buffer.from(once, 'base64').toString('latin1')).not.toContain('comment');
});
