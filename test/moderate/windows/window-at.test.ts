import { expect, test } from 'vitest';
import { findWindow } from '../../../src/moderate/windows/window-at.ts';
import { splitResponse } from '../../../src/moderate/windows/text-windows.ts';
import { random, seed, sentence } from '../../helpers/corpus.ts';

test('the window that begins at a code point is that of a response with its prompt, or a larger one', () => {
  const next = random(seed());
  const text = Array.from({ length: 400 }, () => `${sentence(next)} 🙂 ärger. `).join('');
  const prompt = text.slice(0, 300);
  const request = { requestType: 'response', modality: 'text', prompt, response: text } as const;
  const { request: part, at } = [...splitResponse(request).cut(2048)].at(-2)!;
  const { from, to } = findWindow(text, at, prompt)!;
  expect(text.slice(from, to).startsWith((part as { response: string }).response)).toBe(true);
});

test('there is none where no window begins', () => {
  expect(findWindow('short', 3)).toBeNull();
  expect(findWindow('🙂'.repeat(400_000), 400_000)).toBeNull();
});
