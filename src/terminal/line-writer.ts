import { escaped, shownJson } from '../domain/text/shown.ts';

/** Where text is written: stdout or stderr of a process. */
interface TextTarget {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** Moves the cursor to the first column and erases the line. */
const CLEAR_LINE = '\r\u001b[2K';

const DEFAULT_COLUMNS = 80;

/** Longer lines are cut, in UTF-16 code units. Our own are far shorter; untrusted text in one may not be. */
const MAX_LINE = 16_384;

/**
 * The only way to write to a terminal or a log. It takes whole lines and escapes every control, format and
 * bidirectional character and line separator in them, so untrusted text cannot start a line, move the cursor or change
 * colours, even where a caller forgot to escape it. Each line is a string of its own.
 */
export class LineWriter {
  readonly #target: TextTarget;

  constructor(target: TextTarget) {
    this.#target = target;
  }

  get isTerminal(): boolean {
    return this.#target.isTTY === true;
  }

  /** Width of the terminal; undefined for anything else. */
  get columns(): number | undefined {
    return this.#target.columns;
  }

  line(text: string): void {
    this.lines([text]);
  }

  /** Writes all lines in one call, so that output of other processes does not come between them. */
  lines(texts: readonly string[]): void {
    if (texts.length > 0) this.#target.write(texts.map((text) => `${bounded(text)}\n`).join(''));
  }

  /** Writes a value as JSON in printable characters, and a line feed. Parsing it returns the same value. */
  json(value: unknown, indent?: number): void {
    this.#target.write(`${shownJson(value, indent)}\n`);
  }

  /** Replaces the line that the cursor is on; cut to the width of the terminal. For terminals only. */
  redraw(text: string): void {
    // A line that wraps cannot be erased.
    const width = (this.#target.columns ?? DEFAULT_COLUMNS) - 1;
    this.#target.write(`${CLEAR_LINE}${escaped(text).slice(0, width)}`);
  }

  /** Erases the line that the cursor is on. For terminals only. */
  erase(): void {
    this.#target.write(CLEAR_LINE);
  }
}

function bounded(text: string): string {
  return text.length > MAX_LINE ? `${escaped(text.slice(0, MAX_LINE))}…` : escaped(text);
}
