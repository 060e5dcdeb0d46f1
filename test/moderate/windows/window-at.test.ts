import { describe, expect, test } from 'vitest';
import { findWindow } from '../../../src/moderate/windows/window-at.ts';
import { splitResponse } from '../../../src/moderate/windows/text-windows.ts';
import { random, seed, sentence } from '../../helpers/corpus.ts';

const SEED = seed();
const next = random(SEED);
const TEXT = Array.from({ length: 400 }, () => `${sentence(next)} 🙂 ärger. `).join('');

describe('the window that begins at a code point', () => {
  test('is that of a response with its prompt, or a larger one', () => {
    const prompt = TEXT.slice(0, 300);
    const request = { requestType: 'response', modality: 'text', prompt, response: TEXT } as const;
    const windows = [...splitResponse(request).cut(2048)];
    const { request: part, at } = windows.at(-2)!;
    const span = findWindow(TEXT, at, prompt)!;
    const window = TEXT.slice(span.from, span.to);
    expect(window.startsWith((part as { response: string }).response)).toBe(true);
  });

  test('is a usual length of a very long text', () => {
    const long = '🙂'.repeat(400_000);
    expect(findWindow(long, 200_000)).toEqual({ from: 400_000, to: 402_048 });
  });

  test('is null where no window begins', () => {
    expect(findWindow('short', 3)).toBeNull();
    expect(findWindow('🙂'.repeat(400_000), 400_000)).toBeNull();
  });
});
