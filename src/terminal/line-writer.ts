import type { LogFields, LogFormat, Say } from '../domain/say.ts';
import { escapeLine, toPrintableJson } from '../domain/text/escape-text.ts';
import { displayWidth, truncateToWidth } from '../domain/text/characters.ts';

/** Where text is written: stdout or stderr of a process. */
interface TextTarget {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

/** Moves the cursor to the first column of a line above it, and erases everything from there on. */
const clearFrom = (linesAbove: number): string =>
  `\r${linesAbove > 0 ? `\u001b[${linesAbove}A` : ''}\u001b[J`;

const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;

/** Longer lines are cut, in UTF-16 code units. Our own are far shorter; untrusted text in one may not be. */
const MAX_LINE = 16_384;

/**
 * The only way to write to a terminal or a log. It takes whole lines and escapes every control, format and
 * bidirectional character and line separator in them, so untrusted text cannot start a line, move the cursor or change
 * colours, even where a caller forgot to escape it. Each line is a string of its own.
 */
export class LineWriter {
  readonly #target: TextTarget;
  /** Null: lines are for people, without time and level. */
  #format: LogFormat | null = null;
  /** Widths of the lines that `redraw` drew; none after `erase` or `keep`. */
  #drawn: readonly number[] = [];

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

  /** Makes a log of this: every further line has a time and a level, whoever writes it. */
  logAs(format: LogFormat): void {
    this.#format = format;
  }

  /** Writes a message of this program, after its name unless this is a log. */
  readonly say: Say = (message, fields) =>
    this.line(this.#format === null ? `guardsweep: ${message}` : message, fields);

  line(text: string, fields?: LogFields): void {
    this.lines([text], fields);
  }

  /** Writes all lines in one call, so that output of other processes does not come between them. */
  lines(texts: readonly string[], fields: LogFields = {}): void {
    if (texts.length > 0)
      this.#target.write(texts.map((text) => `${this.#formatLine(text, fields)}\n`).join(''));
  }

  #formatLine(text: string, { level = 'info', event = 'notice', ...known }: LogFields): string {
    const message = bounded(text);
    if (this.#format === null) return message;
    const time = new Date().toISOString();
    if (this.#format === 'text') return `${time} ${level} ${message}`;
    return toPrintableJson({ time, level, event, message, ...known });
  }

  /** Writes a value as JSON in printable characters, and a line feed. Parsing it returns the same value. */
  json(value: unknown, indent?: number): void {
    this.#target.write(`${toPrintableJson(value, indent)}\n`);
  }

  /** Columns of a line that `redraw` shows whole: one that fills the last column of a terminal would wrap. */
  get lineColumns(): number {
    return this.#width - 1;
  }

  /**
   * Replaces the lines that were drawn last, from the cursor's line on; each is cut to the width of the terminal, and
   * those that do not fit its height are left out. For terminals only. Call `erase` or `keep` before any other output.
   */
  redraw(texts: readonly string[]): void {
    // More lines than the terminal has cannot be erased.
    const shown = texts.slice(0, this.#target.rows || DEFAULT_ROWS);
    const lines = shown.map((text) => truncateToWidth(escapeLine(text), this.lineColumns));
    this.#target.write(`${this.#clear()}${lines.join('\n')}`);
    this.#drawn = lines.map(displayWidth);
  }

  /** Erases the lines that were drawn last, if there are any. */
  erase(): void {
    if (this.#drawn.length === 0) return;
    this.#target.write(this.#clear());
    this.#drawn = [];
  }

  /** Leaves the lines that were drawn last where they are, if there are any. */
  keep(): void {
    if (this.#drawn.length > 0) this.#target.write('\n');
    this.#drawn = [];
  }

  get #width(): number {
    return this.#target.columns || DEFAULT_COLUMNS;
  }

  /** If the terminal became narrower meanwhile, each line that was drawn may take several now. */
  #clear(): string {
    const lines = this.#drawn.reduce(
      (sum, columns) => sum + Math.max(1, Math.ceil(columns / this.#width)),
      0,
    );
    return clearFrom(Math.max(0, lines - 1));
  }
}

function bounded(text: string): string {
  return text.length > MAX_LINE ? `${escapeLine(text.slice(0, MAX_LINE))}…` : escapeLine(text);
}
