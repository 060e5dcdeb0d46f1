import { codePoints } from '../../domain/coverage.ts';
import type { PromptRequest } from '../../domain/request.ts';
import type { Covered, Part } from '../parts/judge-parts.ts';
import { type Span, textSpans } from './text-spans.ts';
import type { Windowed } from './windowed.ts';

/** A text in windows. Positions are code points. */
export function windowedText(request: PromptRequest): Windowed {
  const { text } = request;
  return {
    bytes: Buffer.byteLength(text),
    cut: function* (maxBytes): Generator<Part, Covered> {
      const counted = new CountedSpans(text);
      for (const span of textSpans(text, maxBytes)) {
        const at = counted.add(span);
        yield { request: { ...request, text: text.slice(span.from, span.to) }, at };
      }
      return counted.covered;
    },
  };
}

/** Counts the code points of a text that its spans cover. The spans come in order and may overlap. */
export class CountedSpans {
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

  get covered(): Covered {
    return { unit: 'chars', judged: this.#judged, total: codePoints(this.#text) };
  }
}
