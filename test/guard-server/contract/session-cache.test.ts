import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Turn } from '../../../src/domain/request.ts';
import { SessionCache } from '../../../src/guard-server/contract/session-cache.ts';
import { CACHE_USAGE_ORDER } from '../../../src/guard/tensors/protocol.ts';

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

it('tells a turn apart by its role', () => {
  const cache = new SessionCache();
  cache.use('a', [['user', 'x']], true);
  expect(named(cache.use('a', [['assistant', 'x']], false))).toMatchObject({ messageHits: 0 });
});

it('counts every turn and token as a hit or a miss, hits being the common head', () => {
  const content = fc.constantFrom('a', 'bbbbb', 'cc');
  const conversation = fc.array(content, { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(conversation, conversation, (first, second) => {
      const cache = new SessionCache();
      cache.use('s', turns(...first), true);
      const usage = named(cache.use('s', turns(...second), true));
      let common = 0;
      while (common < second.length && first[common] === second[common]) common++;
      const tokens = (contents: string[]): number =>
        contents.reduce((sum, text) => sum + Math.ceil(text.length / 4), 0);
      expect(usage).toEqual({
        messageHits: common,
        messageMisses: second.length - common,
        tokenHits: tokens(second.slice(0, common)),
        tokenMisses: tokens(second.slice(common)),
        writes: second.length - common,
        l1Evictions: 0,
        l2Evictions: 0,
      });
    }),
  );
});
