import { codePoints } from '../../domain/coverage.ts';
import type { PromptRequest, ResponseRequest } from '../../domain/request.ts';
import type { PartsCoverage, Part } from '../parts/judge-parts.ts';
import { type Span, textSpans } from './text-spans.ts';

/** Content that is too long to be judged in one piece. */
export interface WindowedContent {
  /** Size of everything that is sent for it, in bytes of UTF-8. */
  readonly bytes: number;
  /**
   * Generates overlapping windows of at most `maxBytes` (at least 256), lazily; a single window if
   * everything fits. Returns how much of the whole they cover. Content that is in no window does not count.
   */
  cut(maxBytes: number): Generator<Part, PartsCoverage>;
}

/** Smaller windows would not hold a sentence: a guard that refuses this size refuses for another reason. */
const MIN_WINDOW_BYTES = 256;
/** Max windows per item: window sizes that would give more are not tried. */
const MAX_WINDOWS = 16_384;

/** Window sizes to try for an item of this size, in bytes: powers of two, from the largest below it down. */
export function* windowSizes(bytes: number): Generator<number> {
  let size = MIN_WINDOW_BYTES;
  while (size * 2 < bytes) size *= 2;
  for (; size >= MIN_WINDOW_BYTES && bytes / size <= MAX_WINDOWS; size /= 2) {
    if (size < bytes) yield size;
  }
}

/** Splits the text of a prompt into windows. Positions are code points. */
export function splitText(request: PromptRequest): WindowedContent {
  const { text } = request;
  return {
    bytes: Buffer.byteLength(text),
    cut: function* (maxBytes): Generator<Part, PartsCoverage> {
      const counted = new CountedSpans(text);
      for (const span of textSpans(text, maxBytes)) {
        const at = counted.add(span);
        yield { request: { ...request, text: text.slice(span.from, span.to) }, at };
      }
      return counted.covered;
    },
  };
}

/** Counts the code points that the spans of some text cover. The spans come in order and may overlap. */
class CountedSpans {
  readonly #text: string;
  /** A position in UTF-16 units, and the number of code points before it. */
  #seen = 0;
  #seenPoints = 0;
  #judged = 0;
  #end = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns the position of the span in code points. */
  add({ from, to }: Span): number {
    this.#seenPoints += codePoints(this.#text.slice(this.#seen, from));
    this.#seen = from;
    this.#judged += codePoints(this.#text.slice(Math.max(this.#end, from), to));
    this.#end = to;
    return this.#seenPoints;
  }

  get covered(): PartsCoverage {
    return { unit: 'chars', judged: this.#judged, total: codePoints(this.#text) };
  }
}

/**
 * Splits a response with its prompt into windows. A prompt or response that fits half a window is in every window as a
 * whole. If neither fits, both are cut to half windows, and each piece of one is sent with the piece of the other at
 * the same relative position. Positions are code points of the response.
 */
export function splitResponse(request: ResponseRequest): WindowedContent {
  const { response } = request;
  const prompt = request.prompt ?? '';
  const bytes = { prompt: Buffer.byteLength(prompt), response: Buffer.byteLength(response) };
  return {
    bytes: bytes.prompt + bytes.response,
    cut: function* (maxBytes): Generator<Part, PartsCoverage> {
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

/** Bytes of a window available to a prompt or response when the other one is in it too. */
export function roomFor(own: number, other: number, maxBytes: number): number {
  const half = Math.floor(maxBytes / 2);
  return own <= half ? own : other <= half ? maxBytes - other : half;
}

function spansOf(text: string, bytes: number, room: number): Span[] {
  if (text === '') return [];
  return bytes <= room ? [{ from: 0, to: text.length }] : [...textSpans(text, room)];
}
