import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Judgement } from '../../../src/domain/outcome.ts';
import type { ItemRequest, MultiturnRequest } from '../../../src/domain/request.ts';
import { MAX_SNIPPET_UNITS, createSnippet } from '../../../src/domain/text/snippet.ts';

const prompt = (text: string): ItemRequest => ({ requestType: 'prompt', modality: 'text', text });

function judged(worstAt: number | null, stream: Judgement['stream'] = null) {
  return { coverage: { unit: 'chars', judged: 1, total: 1, worst_at: worstAt }, stream } as const;
}

const STREAM = {
  chunks: 100,
  judgedChunks: 100,
  firstCautionSeq: null,
  firstFlaggedSeq: null,
  shareAtCaution: null,
  shareAtFlag: null,
  lagChunks: 0,
  lagMs: 0,
};

it('is a short text as it is, on one line', () => {
  expect(createSnippet(prompt('hello'), judged(null))).toBe('hello');
  expect(createSnippet(prompt('  one\r\n\ttwo\u2028\u00a0three \n'), judged(null))).toBe('one two three');
  expect(createSnippet(prompt('\n\t '), judged(null))).toBe(null);
});

it('begins where the part that decided begins, in code points', () => {
  const text = `${'😀'.repeat(1000)}here it is${'.'.repeat(1000)}`;
  expect(createSnippet(prompt(text), judged(1000))).toBe(`…here it is${'.'.repeat(290)}…`);
  expect(createSnippet(prompt(text), judged(null))).toBe(`${'😀'.repeat(150)}…`);
  expect(
    createSnippet(
      { requestType: 'response', modality: 'text', prompt: 'p', response: 'an answer' },
      judged(3),
    ),
  ).toBe('…answer');
});

it('is of the turn that decided, or else the last one that was submitted', () => {
  const request: MultiturnRequest = {
    requestType: 'multiturn',
    modality: 'text',
    messages: [
      ['user', 'one'],
      ['assistant', 'two'],
      ['user', 'three'],
    ],
    turns: 2,
    conversation: null,
  };
  expect(createSnippet(request, judged(null))).toBe('two');
  expect(createSnippet({ ...request, turns: 3 }, judged(null))).toBe('three');
  expect(createSnippet(request, judged(0))).toBe('one');
});

it('of a generation ends with the chunk that was flagged', () => {
  const request: ItemRequest = {
    requestType: 'generation',
    modality: 'text',
    prompt: 'p',
    chunks: Array.from({ length: 100 }, (_, seq) => `chunk ${seq} `),
    cadenceChunks: 1,
  };
  expect(createSnippet(request, judged(null, { ...STREAM, firstCautionSeq: 1, firstFlaggedSeq: 2 }))).toBe(
    'chunk 0 chunk 1 chunk 2…',
  );
  const late = createSnippet(request, judged(null, { ...STREAM, firstCautionSeq: 99 }))!;
  expect(late).toMatch(/^….* chunk 98 chunk 99$/);
  expect(late.length).toBe(301);
  expect(createSnippet(request, judged(null, STREAM))).toMatch(/^chunk 0 .*…$/);
});

it('is the caption or transcript of media, and null without one', () => {
  const file = { corpus: 'c', path: 'a.jpg', sha256: '', bytes: 1 };
  const media = { requestType: 'prompt', modality: 'image', file } as const;
  expect(createSnippet({ ...media, caption: 'a caption' }, judged(3))).toBe('a caption');
  expect(createSnippet({ ...media, caption: null }, judged(null))).toBe(null);
  const embedded = {
    requestType: 'prompt',
    modality: 'image',
    embedded: Buffer.of(1),
    caption: null,
  } as const;
  expect(createSnippet(embedded, judged(null))).toBe(null);
});

it('shows what cannot be read, and leaves other scripts as they are', () => {
  expect(createSnippet(prompt('a\0b\x1b[31m\u202ec\u2066d\ud800e'), judged(null))).toBe('a�b�[31m�c�d�e');
  for (const text of ['👨‍👩‍👧', 'می‌خواهم', 'שלום\u200f.'])
    expect(createSnippet(prompt(text), judged(null))).toBe(text);
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
        createSnippet(
          { requestType: 'generation', modality: 'text', prompt: 'p', chunks: parts, cadenceChunks: 1 },
          judged(null, { ...STREAM, firstFlaggedSeq: at }),
        ),
      ]) {
        if (snippet === null) continue;
        expect(snippet.length).toBeLessThanOrEqual(MAX_SNIPPET_UNITS);
        expect(snippet).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u);
      }
    }),
  );
});
