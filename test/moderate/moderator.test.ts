import { describe, expect, it } from 'vitest';
import type { Item } from '../../src/domain/item.ts';
import { SHARDS_PER_CANARIES } from '../../src/moderate/moderator.ts';
import type { Judge } from '../../src/moderate/parts/judge-parts.ts';
import { knownItem, promptItem, settledItem } from '../helpers/items.ts';
import { DEFAULT_JUDGING } from '../helpers/run-config.ts';
import { judgeBy, judgement, MODEL, moderateShard, textModerator } from '../helpers/moderation.ts';

/** A judge whose score is the number the text holds. */
const judge = judgeBy((request) => judgement('text' in request ? Number(request.text) : 0));

it('asks for the canaries again after every 100 shards that were judged, and at the end if any were since', async () => {
  let asked = 0;
  const checking: Judge = { ...judge, checkAgain: async () => void asked++ };
  const { signal } = new AbortController();
  const moderator = textModerator(checking);
  const after = async (shards: number, item: Item = promptItem(0, '0')): Promise<number> => {
    const options = { judging: DEFAULT_JUDGING, session: 'run-1', signal };
    for (let shard = 0; shard < shards; shard++)
      await moderator.moderate({ shard, pass: 1, lane: 'text', items: [item] }, options);
    return asked;
  };
  expect(await after(SHARDS_PER_CANARIES, settledItem(0, 'MALFORMED_ROW'))).toBe(0);
  expect(await after(SHARDS_PER_CANARIES - 1)).toBe(0);
  expect(await after(1)).toBe(1);
  await moderator.finish(signal);
  expect(await after(1)).toBe(1);
  await moderator.finish(signal);
  expect(asked).toBe(2);
});

describe('a shard of texts', () => {
  it('puts outcomes back in the order of the items, around those already settled', async () => {
    const items = [promptItem(4, '0.25'), settledItem(5, 'MALFORMED_ROW'), promptItem(9, '0.75')];
    const result = await moderateShard({ items }, judge);
    expect(result.outcomes.map((outcome) => outcome?.judgement?.score ?? null)).toEqual([0.25, null, 0.75]);
    expect(result.fingerprints).toEqual([MODEL]);
  });

  it('asks no guard for a shard of settled items', async () => {
    const silent: Judge = { judge: () => Promise.reject(new Error('asked')), fingerprints: new Map() };
    const items = [settledItem(0, 'INVALID_ENCODING'), knownItem(1, 0.25)];
    const result = await moderateShard({ items }, silent);
    expect(result.outcomes).toEqual([null, null]);
    expect(result.fingerprints).toEqual([MODEL]);
  });

  it('takes a wrong number of outcomes for a fault, never for a clean rest', async () => {
    const short: Judge = { ...judge, judge: async () => [judgement(0.1)] };
    const items = [promptItem(0, '0'), promptItem(1, '0')];
    await expect(moderateShard({ items }, short)).rejects.toThrow('2 requests were answered by 1 outcomes');
  });
});
