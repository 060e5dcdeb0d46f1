/**
 * A growing text is judged in windows of WINDOW_UNITS that start every STRIDE_UNITS. Each window is judged once when
 * the text has filled it, and the first window that is not full is judged at every point where a verdict is due. So a
 * verdict costs no more than a window and the text added since the last one, and any passage of up to STRIDE_UNITS is
 * completely inside a window.
 */

/** Length of a window in UTF-16 code units. */
export const WINDOW_UNITS = 2048;
const STRIDE_UNITS = WINDOW_UNITS / 2;

/** Max size of a window in UTF-8: a code unit takes up to three bytes. */
export const MAX_WINDOW_BYTES = 3 * WINDOW_UNITS;

/** Cuts text into windows as it grows. The windows depend only on the text and the points. */
export class Windows {
  /** The text from the start of the first window that is not full. */
  #text = '';
  /** Length of the part of `#text` that was in a window. */
  #covered = 0;

  /** Adds text. Returns the windows that cover it so far. */
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

/** TRAP: a slice of a string keeps the whole string in memory, which may be a thousand times as much. */
function copyOf(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}

/** Whether the code units before and at this index form one character. */
function isPair(text: string, index: number): boolean {
  return (text.codePointAt(index - 1) ?? 0) > 0xffff;
}
