import type { ResponseRequest } from '../../domain/request.ts';
import type { Covered, Part } from '../parts/judge-parts.ts';
import { type Span, textSpans } from './text-spans.ts';
import { CountedSpans } from './text-windows.ts';
import type { Windowed } from './windowed.ts';

/**
 * A response with its prompt, in windows. A prompt or response that fits half a window is in every window as a whole. If
 * neither fits, both are cut to half windows, and each piece of one is sent with the piece of the other at the same
 * relative position. Positions are code points of the response.
 */
export function windowedResponse(request: ResponseRequest): Windowed {
  const { response } = request;
  const prompt = request.prompt ?? '';
  const bytes = { prompt: Buffer.byteLength(prompt), response: Buffer.byteLength(response) };
  return {
    bytes: bytes.prompt + bytes.response,
    cut: function* (maxBytes): Generator<Part, Covered> {
      const prompts = spansOf(prompt, bytes.prompt, roomFor(bytes.prompt, bytes.response, maxBytes));
      const responses = spansOf(response, bytes.response, roomFor(bytes.response, bytes.prompt, maxBytes));
      const counted = new CountedSpans(response);
      const windows = responses.length === 0 ? 0 : Math.max(prompts.length, responses.length);
      let last = -1;
      let at = 0;
      for (let window = 0; window < windows; window++) {
        const index = Math.floor((window * responses.length) / windows);
        const piece = responses[index]!;
        if (index > last) at = counted.add(piece);
        last = index;
        const asked = prompts[Math.floor((window * prompts.length) / windows)];
        yield {
          request: {
            ...request,
            prompt: asked === undefined ? null : prompt.slice(asked.from, asked.to),
            response: response.slice(piece.from, piece.to),
          },
          at,
        };
      }
      return counted.covered;
    },
  };
}

/** Bytes of a window that a text may take beside the other one. */
export function roomFor(own: number, other: number, maxBytes: number): number {
  const half = Math.floor(maxBytes / 2);
  return own <= half ? own : other <= half ? maxBytes - other : half;
}

function spansOf(text: string, bytes: number, room: number): Span[] {
  if (text === '') return [];
  return bytes <= room ? [{ from: 0, to: text.length }] : [...textSpans(text, room)];
}
