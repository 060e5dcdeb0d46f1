import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Turn } from '../../../src/domain/request.ts';
import { SessionCache } from '../../../src/guard-server/contract/session-cache.ts';
import { CACHE_USAGE_ORDER } from '../../../src/guard/tensors/protocol.ts';

const MIB = 1024 * 1024;

const turns = (...contents: string[]): Turn[] => contents.map((content) => ['user', content]);
const named = (usage: readonly number[]): Record<string, number> =>
  Object.fromEntries(CACHE_USAGE_ORDER.map((count, position) => [count, usage[position]!]));

it('moves the least recently used session down a tier, then forgets it', () => {
  const cache = new SessionCache({ l1Turns: 4, l2Turns: 2 });
  cache.use('a', turns('1', '2'), true);
  cache.use('b', turns('1', '2'), true);
  cache.use('a', turns('1', '2'), true);
  expect(named(cache.use('c', turns('1'), true))).toMatchObject({ l1Evictions: 1, l2Evictions: 0 });
  expect(named(cache.use('b', turns('1', '2'), true))).toMatchObject({
    messageHits: 2,
    l1Evictions: 1,
    l2Evictions: 0,
  });
  expect(named(cache.use('d', turns('1', '2'), true))).toMatchObject({ l1Evictions: 1, l2Evictions: 1 });
  expect(named(cache.use('a', turns('1', '2'), false))).toMatchObject({ messageHits: 0 });
});

it('does not keep a conversation that is larger than its bounds', () => {
  const cache = new SessionCache({ l1Turns: 2, l2Turns: 2 });
  expect(named(cache.use('a', turns('1', '2', '3'), true))).toMatchObject({
    writes: 3,
    l1Evictions: 1,
    l2Evictions: 1,
  });
  expect(named(cache.use('a', turns('1', '2', '3'), false))).toMatchObject({ messageHits: 0 });
});

/** What a client may ask of a small cache, in a random order. */
const uses = fc.array(
  fc.record({
    id: fc.constantFrom('a', 'b', 'c', 'd'),
    contents: fc.array(fc.constantFrom('x', 'y'), { minLength: 1, maxLength: 4 }),
  }),
  { maxLength: 12 },
);

it('changes nothing in what it keeps, nor in what it forgets next, when writing is off', () => {
  fc.assert(
    fc.property(uses, uses, uses, (before, reads, after) => {
      const [read, untouched] = [0, 1].map(() => {
        const cache = new SessionCache({ l1Turns: 5, l2Turns: 5 });
        for (const { id, contents } of before) cache.use(id, turns(...contents), true);
        return cache;
      }) as [SessionCache, SessionCache];
      for (const { id, contents } of reads) {
        expect(named(read.use(id, turns(...contents), false))).toMatchObject({
          writes: 0,
          l1Evictions: 0,
          l2Evictions: 0,
        });
      }
      for (const { id, contents } of after) {
        expect(read.use(id, turns(...contents), true)).toEqual(untouched.use(id, turns(...contents), true));
      }
    }),
  );
});

/** Two lists of sessions with their lengths, least recently used first: the eviction of the cache in the simplest way. */
class Lists {
  #l1: [id: string, turns: number][] = [];
  #l2: [id: string, turns: number][] = [];

  /** Evictions of both tiers. */
  write(id: string, length: number): [l1: number, l2: number] {
    this.#l1 = [...this.#l1.filter(([other]) => other !== id), [id, length]];
    this.#l2 = this.#l2.filter(([other]) => other !== id);
    const down = Lists.#trim(this.#l1, 5);
    let forgotten = 0;
    for (const session of down) {
      this.#l2.push(session);
      forgotten += Lists.#trim(this.#l2, 7).length;
    }
    return [down.length, forgotten];
  }

  static #trim(tier: [id: string, turns: number][], capacity: number): [id: string, turns: number][] {
    const evicted: [id: string, turns: number][] = [];
    while (tier.reduce((sum, [, length]) => sum + length, 0) > capacity) evicted.push(tier.shift()!);
    return evicted;
  }
}

it('evicts what plain lists of sessions would', () => {
  const writes = fc.array(
    fc.record({ id: fc.constantFrom(...'abcdefgh'), length: fc.integer({ min: 1, max: 8 }) }),
    {
      maxLength: 60,
    },
  );
  fc.assert(
    fc.property(writes, (given) => {
      const cache = new SessionCache({ l1Turns: 5, l2Turns: 7 });
      const lists = new Lists();
      for (const { id, length } of given) {
        const { l1Evictions, l2Evictions } = named(
          cache.use(id, turns(...Array<string>(length).fill('x')), true),
        );
        expect([l1Evictions, l2Evictions]).toEqual(lists.write(id, length));
      }
    }),
  );
});

it('holds no more turns than its two tiers have, of however many sessions', () => {
  const cache = new SessionCache({ l1Turns: 40, l2Turns: 60 });
  const sessions = 5000;
  for (let session = 0; session < sessions; session++) cache.use(String(session), turns('1', '2'), true);
  let held = 0;
  for (let session = 0; session < sessions; session++) {
    held += named(cache.use(String(session), turns('1', '2'), false))['messageHits']!;
  }
  expect(held).toBe(100);
  expect(cache.totals).toMatchObject({ l1Evictions: sessions - 20, l2Evictions: sessions - 50 });
});

it('takes the same memory for session ids of any length, and tells them apart to the last character', () => {
  const cache = new SessionCache();
  const long = 'x'.repeat(4 * MIB);
  const before = memoryInUse();
  // Ids as they are read from messages: each a string of its own.
  for (let session = 0; session < 16; session++) {
    cache.use(Buffer.from(`${long}${session}`).toString(), turns('1'), true);
  }
  expect(memoryInUse() - before).toBeLessThan(16 * MIB);
  expect(named(cache.use(`${long}7`, turns('1'), false))).toMatchObject({ messageHits: 1 });
  expect(named(cache.use(`${long}x`, turns('1'), false))).toMatchObject({ messageHits: 0 });
});

/** Bytes of what is still referred to. */
function memoryInUse(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
