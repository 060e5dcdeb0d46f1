import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Turn } from '../../../src/domain/request.ts';
import { SessionCache } from '../../../src/guard-server/contract/session-cache.ts';
import { CACHE_USAGE_ORDER } from '../../../src/guard/tensors/protocol.ts';

const turns = (...contents: string[]): Turn[] => contents.map((content) => ['user', content]);
const named = (usage: readonly number[]): Record<string, number> =>
  Object.fromEntries(CACHE_USAGE_ORDER.map((count, position) => [count, usage[position]!]));

it('forgets the least recently used session (C-209, C-216, C-222, C-312)', () => {
  const cache = new SessionCache(4);
  cache.use('a', turns('1', '2'), true);
  cache.use('b', turns('1', '2'), true);
  cache.use('a', turns('1', '2'), true);
  expect(named(cache.use('c', turns('1'), true))).toMatchObject({ l1Evictions: 1, l2Evictions: 0 });
  expect(named(cache.use('b', turns('1', '2'), false))).toMatchObject({ messageHits: 0 });
  expect(named(cache.use('a', turns('1', '2'), false))).toMatchObject({ messageHits: 2 });
});

/** What a client may ask of a small cache, in a random order. */
const id = fc.constantFrom('a', 'b', 'c', 'd');
const contents = fc.array(fc.constantFrom('x', 'y'), { minLength: 1, maxLength: 4 });
const uses = fc.array(fc.record({ id, contents }), { maxLength: 12 });

it('changes nothing in what it keeps, nor in what it forgets next, when writing is off (C-210)', () => {
  fc.assert(
    fc.property(uses, uses, uses, (before, reads, after) => {
      const [read, untouched] = [new SessionCache(5), new SessionCache(5)];
      for (const { id, contents } of before) {
        for (const cache of [read, untouched]) cache.use(id, turns(...contents), true);
      }
      for (const { id, contents } of reads) {
        const usage = named(read.use(id, turns(...contents), false));
        expect(usage).toMatchObject({ writes: 0, l1Evictions: 0, l2Evictions: 0 });
      }
      for (const { id, contents } of after) {
        expect(read.use(id, turns(...contents), true)).toEqual(untouched.use(id, turns(...contents), true));
      }
    }),
  );
});

it('holds no more turns than its bound, of however many sessions (C-312)', () => {
  const cache = new SessionCache(100);
  const sessions = 5000;
  for (let session = 0; session < sessions; session++) cache.use(String(session), turns('1', '2'), true);
  let held = 0;
  for (let session = 0; session < sessions; session++) {
    held += named(cache.use(String(session), turns('1', '2'), false))['messageHits']!;
  }
  expect(held).toBe(100);
  expect(cache.totals).toMatchObject({ l1Evictions: sessions - 50, l2Evictions: 0 });
});
