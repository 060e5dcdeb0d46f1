import { makeFingerprint } from '../../src/domain/fingerprint.ts';
import type { Judgement } from '../../src/domain/outcome.ts';
import type { JudgedVerdicts } from '../../src/store/verdicts.ts';

export const MODEL = makeFingerprint([['model', '1'.repeat(64)]])!;
export const JUDGED = { fingerprint: MODEL.id, judging: '{"frames":4}' };

export function judgement(): Judgement {
  return {
    score: Math.fround(0.93),
    flagged: true,
    subcategoryScores: { hate: Math.fround(0.9), privacy: 0.25 },
    subcategoryFlags: ['hate', 'a category of its own'],
    fingerprint: MODEL.id,
    endpoint: 'grpc://guard:8001',
    latencyMs: 12.34,
    attempts: 2,
    cacheUsage: [0, 1, 300, 70_000, -1, 0, 0, 0],
    moderatedAt: '2026-11-21T02:14:07.031Z',
    coverage: { unit: 'seconds', judged: 300, total: 1234.5, worst_at: 30 },
    stream: null,
  };
}

/** The same as it is found: it took no attempts. */
export const FOUND: Judgement = { ...judgement(), attempts: 0, cacheUsage: null };

export function verdictsOf(run: string, contents: readonly string[]): JudgedVerdicts {
  return {
    run,
    judging: JUDGED.judging,
    fingerprints: [MODEL],
    verdicts: contents.map((contentSha256) => ({ contentSha256, judgement: judgement() })),
  };
}
