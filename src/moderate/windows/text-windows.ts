import { codePoints } from '../../domain/item.ts';
import type { PromptRequest, ResponseRequest } from '../../domain/request.ts';
import type { Part } from '../parts/judge-parts.ts';
import { textSpans } from './text-spans.ts';
import type { Windowed } from './windowed.ts';

/** A text, or a response together with its prompt, that is judged piece by piece. Positions are code points. */
export function windowedText(request: PromptRequest | ResponseRequest): Windowed {
  const text = request.requestType === 'prompt' ? request.text : request.response;
  const total = codePoints(text);
  return {
    bytes: Buffer.byteLength(text),
    covered: { unit: 'chars', judged: total, total },
    cut: (maxBytes) => {
      let seen = 0;
      let at = 0;
      return textSpans(text, maxBytes).map(({ from, to }): Part => {
        at += codePoints(text.slice(seen, from));
        seen = from;
        const piece = text.slice(from, to);
        return request.requestType === 'prompt'
          ? { request: { ...request, text: piece }, at }
          : { request: { ...request, response: piece }, at };
      });
    },
  };
}
