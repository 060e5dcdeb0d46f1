import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codePoints } from '../../../../src/domain/coverage.ts';
import { splitResponse, readChunks } from '../../../../src/formats/transcripts/generations.ts';

/** Texts with surrogate pairs, combining marks, joined emoji and halves of pairs. */
const texts = fc.string({
  unit: fc.oneof(fc.constantFrom('a', ' ', 'e\u0301', '👩‍👩‍👧', '🧪', '\ud83d', '\ude00'), fc.string()),
});

/** Whether a chunk begins or ends with half a pair that its neighbour completes. */
function splitsPair(chunks: readonly string[]): boolean {
  return chunks.some(
    (chunk, index) => /[\ud800-\udbff]$/.test(chunk) && /^[\udc00-\udfff]/.test(chunks[index + 1] ?? ''),
  );
}

describe('a response that is cut', () => {
  it('is the same when its chunks are joined, and no chunk is too long, empty or ends within a pair', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 12 }), (text, maxChars) => {
        const chunks = splitResponse(text, maxChars);
        expect(chunks.join('')).toBe(text);
        expect(chunks.every((chunk) => chunk !== '' && codePoints(chunk) <= maxChars)).toBe(true);
        expect(splitsPair(chunks)).toBe(false);
      }),
    );
  });

  it('keeps what is seen as one character together where it fits', () => {
    expect(splitResponse('ab👩‍👩‍👧cd', 6)).toEqual(['ab', '👩‍👩‍👧c', 'd']);
    expect(splitResponse('👩‍👩‍👧', 2)).toHaveLength(3);
  });
});

describe('chunks that were recorded', () => {
  it('are the same text, of which no chunk is empty or ends within a pair', () => {
    fc.assert(
      fc.property(fc.array(fc.option(texts)), (recorded) => {
        const chunks = readChunks(recorded)!;
        expect(chunks.join('')).toBe(recorded.join(''));
        expect(chunks).not.toContain('');
        expect(splitsPair(chunks)).toBe(false);
      }),
    );
  });

  it('stay as they were', () => {
    expect(readChunks(['', 'To ', 'mix', null, ' it'])).toEqual(['To ', 'mix', ' it']);
    expect(readChunks(['a\ud83e', '\uddea', 'b'])).toEqual(['a', '🧪', 'b']);
  });

  it('are texts', () => {
    for (const value of [undefined, 'a', {}, ['a', 1], [['a']]]) expect(readChunks(value)).toBeNull();
  });
});
