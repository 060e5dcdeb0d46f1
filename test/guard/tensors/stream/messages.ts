import fc from 'fast-check';
import type { StreamRequest, StreamVerdict } from '../../../../src/guard/tensors/stream/stream-messages.ts';

/** Valid messages of a moderation stream, for property tests. */

const text = fc.string({ unit: 'binary', maxLength: 40 });

export const streamRequests: fc.Arbitrary<StreamRequest> = fc.record({
  streamId: fc.string({ unit: 'binary', maxLength: 20 }),
  seq: fc.maxSafeNat(),
  prompt: fc.option(text),
  chunk: fc.option(text),
  endOfStream: fc.boolean(),
  cadence: fc.option(
    fc.record({
      unit: fc.constantFrom<('chunks' | 'ms')[]>('chunks', 'ms'),
      every: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    }),
  ),
});

const processedUntilSeq = fc.oneof(fc.constant(-1), fc.maxSafeNat());

/** With scores that are short decimals of FP32 values, as they are read from tensors. */
export const streamVerdicts: fc.Arbitrary<StreamVerdict> = fc.record({
  processedUntilSeq,
  flagged: fc.boolean(),
  needsCaution: fc.boolean(),
  score: fc.option(fc.integer({ min: 0, max: 1000 }).map((thousandths) => thousandths / 1000)),
  latencyMs: fc.integer({ min: 0, max: 100_000 }).map((quarters) => quarters / 4),
  isFinal: fc.boolean(),
});
