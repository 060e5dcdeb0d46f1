import { ByteWindow } from '../../formats/byte-window.ts';

/**
 * The text of a file as UTF-8, in which records are found again by their spans. Takes the text as it is read, and returns
 * stretches of it in order.
 */
export class TextWindow {
  readonly #maxBytes: number;
  readonly #window = new ByteWindow();
  /** Offset up to which stretches were returned. */
  #taken = 0;

  /** Buffers at most `maxBytes` that were not asked for. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  append(text: Buffer): void {
    this.#window.append(text);
    this.#window.dropBefore(this.#window.end - this.#maxBytes);
  }

  /** The stretch from the last offset asked for up to `to`; null if part of it is no longer buffered. */
  take(to: number): Buffer | null {
    const from = this.#taken;
    this.#taken = to;
    const isBuffered = from === to || (from >= this.#window.start && to <= this.#window.end);
    const stretch = isBuffered ? this.#window.slice(from, to) : null;
    this.#window.dropBefore(to);
    return stretch;
  }

  /** The stretch from the last offset asked for to the end of the file; null as in `take`. */
  rest(): Buffer | null {
    return this.take(Math.max(this.#taken, this.#window.end));
  }
}
