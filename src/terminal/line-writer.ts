import { escaped, shownJson } from '../domain/text/shown.ts';

/** Where text goes in the end: stdout or stderr of a process. */
export interface TextTarget {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** Back to the first column, and erase the line. */
const CLEAR_LINE = '\r\u001b[2K';

const DEFAULT_COLUMNS = 80;

/** Longer lines are cut: nothing of ours comes near, but a forgotten foreign string may. In UTF-16 code units. */
const MAX_LINE = 16_384;

/**
 * The only way to a terminal or a log. It takes whole lines and escapes every control, format and bidirectional
 * character and line separator in them, so that a foreign string inside cannot start a line, move the cursor or
 * colour anything, even where a caller did not think of it. Several lines are several strings.
 */
export class LineWriter {
  readonly #target: TextTarget;

  constructor(target: TextTarget) {
    this.#target = target;
  }

  get isTerminal(): boolean {
    return this.#target.isTTY === true;
  }

  /** Width of the terminal; undefined when it is none. */
  get columns(): number | undefined {
    return this.#target.columns;
  }

  line(text: string): void {
    this.lines([text]);
  }

  /** Written at once, so that lines of other processes do not come between. */
  lines(texts: readonly string[]): void {
    if (texts.length > 0) this.#target.write(texts.map((text) => `${bounded(text)}\n`).join(''));
  }

  /** A value as JSON and a line feed, in printable characters; parsed, it is the value as it was. */
  json(value: unknown, indent?: number): void {
    this.#target.write(`${shownJson(value, indent)}\n`);
  }

  /** Puts a line in place of the one the cursor is on, cut to the width of the terminal. For a terminal only. */
  redraw(text: string): void {
    // A line that wraps cannot be erased.
    const width = (this.#target.columns ?? DEFAULT_COLUMNS) - 1;
    this.#target.write(`${CLEAR_LINE}${escaped(text).slice(0, width)}`);
  }

  /** Erases the line the cursor is on. For a terminal only. */
  erase(): void {
    this.#target.write(CLEAR_LINE);
  }
}

function bounded(text: string): string {
  return text.length > MAX_LINE ? `${escaped(text.slice(0, MAX_LINE))}…` : escaped(text);
}
