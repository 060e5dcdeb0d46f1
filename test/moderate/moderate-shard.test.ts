import { describe, expect, it } from 'vitest';
import { makeFingerprint } from '../../src/domain/fingerprint.ts';
import { type Outcome } from '../../src/domain/outcome.ts';
import { moderateShard, type Judge } from '../../src/moderate/moderate-shard.ts';
import { promptItem, settledItem } from '../helpers/items.ts';

const fingerprint = makeFingerprint([['weights', 'a'.repeat(64)]])!;
const options = { session: 'run-1', signal: new AbortController().signal };

function judgement(score: number): Outcome {
  return {
    judgement: {
      score,
      flagged: score >= 0.5,
      subcategoryScores: null,
      subcategoryFlags: null,
      fingerprint: fingerprint.id,
      endpoint: 'embedded:',
      latencyMs: 1,
      attempts: 1,
      cacheUsage: null,
      moderatedAt: '2026-01-01T00:00:00.000Z',
      coverage: { unit: 'chars', judged: 1, total: 1, worst_at: null },
    },
    failure: null,
  };
}

/** A judge whose score is the number the text holds. */
const judge: Judge = {
  judge: async (requests) =>
    requests.map((request) => judgement('text' in request ? Number(request.text) : 0)),
  fingerprints: new Map([[fingerprint.id, fingerprint]]),
};

describe('moderateShard', () => {
  it('puts outcomes back in the order of the items, around those already settled', async () => {
    const items = [promptItem(4, '0.25'), settledItem(5, 'MALFORMED_ROW'), promptItem(9, '0.75')];
    const result = await moderateShard({ shard: 0, pass: 1, lane: 'text', items }, judge, options);
    expect(result.outcomes.map((outcome) => outcome?.judgement?.score ?? null)).toEqual([0.25, null, 0.75]);
    expect(result.fingerprints).toEqual([fingerprint]);
  });

  it('asks no guard for a shard of settled items', async () => {
    const silent: Judge = { judge: () => Promise.reject(new Error('asked')), fingerprints: new Map() };
    const items = [settledItem(0, 'INVALID_ENCODING')];
    const result = await moderateShard({ shard: 0, pass: 1, lane: 'text', items }, silent, options);
    expect(result.outcomes).toEqual([null]);
  });

  it('takes a wrong number of outcomes for a fault, never for a clean rest', async () => {
    const short: Judge = { ...judge, judge: async () => [judgement(0.1)] };
    const items = [promptItem(0, '0'), promptItem(1, '0')];
    await expect(moderateShard({ shard: 0, pass: 1, lane: 'text', items }, short, options)).rejects.toThrow(
      '2 requests were answered by 1 outcomes',
    );
  });
});
