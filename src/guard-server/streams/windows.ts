/**
 * A text that grows is judged in windows of WINDOW_UNITS that start every STRIDE_UNITS: each window once when the text
 * has filled it, and the first window that is not full at every point where a verdict is due. So a verdict costs no more
 * than a window and the text added since the last one, and any passage of up to STRIDE_UNITS stands whole in a window.
 */

/** Length of a window in UTF-16 code units. */
export const WINDOW_UNITS = 2048;
const STRIDE_UNITS = WINDOW_UNITS / 2;

/** Max size of a window in UTF-8: a code unit takes up to three bytes. */
export const MAX_WINDOW_BYTES = 3 * WINDOW_UNITS;

/** Cuts text into windows as it grows. The windows depend on the text and the points alone. */
export class Windows {
  /** The text from the start of the first window that is not full. */
  #text = '';
  /** How much of `#text` stood in a window. */
  #covered = 0;

  /** Adds text. Returns the windows that cover it up to here. */
  add(text: string): string[] {
    const windows: string[] = [];
    this.#text += text;
    while (this.#text.length >= WINDOW_UNITS) {
      // A window neither starts nor ends inside a surrogate pair.
      const end = isPair(this.#text, WINDOW_UNITS) ? WINDOW_UNITS - 1 : WINDOW_UNITS;
      windows.push(this.#text.slice(0, end));
      const stride = isPair(this.#text, STRIDE_UNITS) ? STRIDE_UNITS - 1 : STRIDE_UNITS;
      this.#text = this.#text.slice(stride);
      this.#covered = end - stride;
    }
    if (this.#text.length > this.#covered) {
      this.#covered = this.#text.length;
      windows.push(this.#text);
    }
    if (text.length > WINDOW_UNITS) this.#text = copyOf(this.#text);
    return windows;
  }
}

/** Trap: a slice of a string keeps all of it in memory, which may be a thousand times as much. */
function copyOf(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}

/** Whether the code units before and at this index are one character. */
function isPair(text: string, index: number): boolean {
  return (text.codePointAt(index - 1) ?? 0) > 0xffff;
}
