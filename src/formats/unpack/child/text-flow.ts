/** Invisible characters, which do not separate words. */
const INVISIBLE = /[\u00ad\u200b\u2060\ufeff]/g;
const SPACE = /[ \t\n\r\f]+/g;

/** Text in lines, with white space collapsed as on a page. */
export class TextFlow {
  readonly #pieces: string[] = [];
  #isLineStart = true;
  #hasSpace = false;

  /** If `keepsSpace`, the white space of the text is kept unchanged. */
  write(text: string, keepsSpace = false): void {
    const shown = keepsSpace ? text : text.replace(SPACE, ' ');
    const words = keepsSpace ? text : trimSpace(shown);
    if (shown.startsWith(' ')) this.#hasSpace = true;
    if (words === '') return;
    if (this.#hasSpace && !this.#isLineStart && !keepsSpace) this.#pieces.push(' ');
    this.#pieces.push(words);
    this.#isLineStart = false;
    this.#hasSpace = !keepsSpace && shown.endsWith(' ');
  }

  /** Starts a new line for the text that follows. */
  breakLine(): void {
    if (!this.#isLineStart) this.#pieces.push('\n');
    this.#isLineStart = true;
    this.#hasSpace = false;
  }

  toString(): string {
    return this.#pieces.join('').replace(INVISIBLE, '').trim();
  }
}

/** Removes a single space at each end. */
function trimSpace(text: string): string {
  return text.slice(text.startsWith(' ') ? 1 : 0, text.length > 1 && text.endsWith(' ') ? -1 : undefined);
}
