import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Judgement } from '../../../src/domain/outcome.ts';
import { MAX_SNIPPET_UNITS, createSnippet } from '../../../src/domain/text/snippet.ts';
import { conversation, generation, prompt, response } from '../../helpers/guards/requests.ts';

function judged(worstAt: number | null, stream: Judgement['stream'] = null) {
  return { coverage: { unit: 'chars', judged: 1, total: 1, worst_at: worstAt }, stream } as const;
}

const CALM = { firstCautionSeq: null, firstFlaggedSeq: null, shareAtCaution: null, shareAtFlag: null };
const STREAM = { chunks: 100, judgedChunks: 100, lagChunks: 0, lagMs: 0, ...CALM };

it('is a short text, unchanged but for line breaks', () => {
  expect(createSnippet(prompt('hello'), judged(null))).toBe('hello');
  expect(createSnippet(prompt('  one\r\n\ttwo\u2028\u00a0three \n'), judged(null))).toBe('one two three');
  expect(createSnippet(prompt('\n\t '), judged(null))).toBe(null);
});

it('begins where the part that decided begins, in code points', () => {
  const text = `${'😀'.repeat(1000)}here it is${'.'.repeat(1000)}`;
  expect(createSnippet(prompt(text), judged(1000))).toBe(`…here it is${'.'.repeat(290)}…`);
  expect(createSnippet(prompt(text), judged(null))).toBe(`${'😀'.repeat(150)}…`);
  expect(createSnippet(response('p', 'an answer'), judged(3))).toBe('…answer');
});

it('is of the turn that decided, or else the last one that was submitted', () => {
  const messages = ['one', 'two', 'three'].map((text) => ['user', text] as const);
  const request = conversation(messages, { turns: 2 });
  expect(createSnippet(request, judged(null))).toBe('two');
  expect(createSnippet(request, judged(0))).toBe('one');
});

it('of a generation ends with the chunk that was flagged', () => {
  const request = generation(Array.from({ length: 100 }, (_, seq) => `chunk ${seq} `));
  const early = { ...STREAM, firstCautionSeq: 1, firstFlaggedSeq: 2 };
  expect(createSnippet(request, judged(null, early))).toBe('chunk 0 chunk 1 chunk 2…');
  const late = createSnippet(request, judged(null, { ...STREAM, firstCautionSeq: 99 }));
  expect(late).toMatch(/^….{282} chunk 98 chunk 99$/);
});

it('is the caption or transcript of media, and null without one', () => {
  const file = { corpus: 'c', path: 'a.jpg', sha256: '', bytes: 1 };
  const media = { requestType: 'prompt', modality: 'image', file } as const;
  expect(createSnippet({ ...media, caption: 'a caption' }, judged(3))).toBe('a caption');
  expect(createSnippet({ ...media, caption: null }, judged(null))).toBe(null);
});

it('shows what cannot be read', () => {
  expect(createSnippet(prompt('a\0b\x1b[31m\u202ec\u2066d\ud800e'), judged(null))).toBe('a�b�[31m�c�d�e');
});

it('is bounded, well-formed and on one line, whatever the text', () => {
  const unit = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\n', '👨‍👩‍👧', ' ', '\ud800', 'x'.repeat(200)),
  );
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 30 }), fc.nat(2000), (parts, at) => {
      for (const snippet of [
        createSnippet(prompt(parts.join('')), judged(at)),
        createSnippet(generation(parts), judged(null, { ...STREAM, firstFlaggedSeq: at })),
      ]) {
        if (snippet === null) continue;
        expect(snippet.length).toBeLessThanOrEqual(MAX_SNIPPET_UNITS);
        expect(snippet).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u);
      }
    }),
  );
});
