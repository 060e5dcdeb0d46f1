import { expect, test } from 'vitest';
import { chunkCoverage } from '../../../src/domain/coverage.ts';
import { generationVerdict } from '../../../src/domain/generation/generation-verdict.ts';

const CHUNKS = ['Mix ', 'the 🧪', ' slowly'];
const LAG = { lagChunks: 1, lagMs: 2.5 };

test('shares count the code points up to and including the chunk', () => {
  const found = { judgedChunks: 3, firstCautionSeq: 0, firstFlaggedSeq: 1, ...LAG };
  const shares = { shareAtCaution: 0.25, shareAtFlag: 0.5625 };
  expect(generationVerdict(CHUNKS, found)).toEqual({ ...found, chunks: 3, ...shares });
});

test('coverage counts the code points of the judged chunks', () => {
  expect(chunkCoverage(CHUNKS, 2)).toEqual({ unit: 'chars', judged: 9, total: 16, worst_at: null });
});
