import { describe, expect, it } from 'vitest';
import type { Judge } from '../../src/moderate/parts/judge-parts.ts';
import { knownItem, promptItem, settledItem } from '../helpers/items.ts';
import { MODEL, judgement, moderateShard } from '../helpers/moderation.ts';

/** A judge whose score is the number the text holds. */
const judge: Judge = {
  judge: async (requests) =>
    requests.map((request) => judgement('text' in request ? Number(request.text) : 0)),
  fingerprints: new Map([[MODEL.id, MODEL]]),
};

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
