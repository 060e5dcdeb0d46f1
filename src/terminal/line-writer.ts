import type { LogFields, LogFormat, Say } from '../domain/say.ts';
import { escapeLine, toPrintableJson } from '../domain/text/escape-text.ts';
import { displayWidth, truncateToWidth } from '../domain/text/characters.ts';

/** Destination of text: stdout or stderr of a process. */
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

/**
 * Maximum line length in UTF-16 code units; longer lines are truncated. Our own are far shorter, but may contain
 * untrusted text.
 */
const MAX_LINE = 16_384;

/**
 * The only way to write to a terminal or a log. It takes whole lines and escapes every control, format and
 * bidirectional character and line separator in them, so untrusted text cannot start a line, move the cursor or change
 * colours, even if a caller forgot to escape it. Each line is a separate string.
 */
export class LineWriter {
  readonly #target: TextTarget;
  /** Null for human-readable lines, without time and level. */
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

  /** Makes this a log: every further line has a time and a level, whatever the caller. */
  logAs(format: LogFormat): void {
    this.#format = format;
  }

  /** Writes a message of this program, after its name unless this is a log. */
  readonly say: Say = (message, fields) =>
    this.line(this.#format === null ? `guardsweep: ${message}` : message, fields);

  line(text: string, fields?: LogFields): void {
    this.lines([text], fields);
  }

  /** Writes all lines in one call, so output of other processes cannot come between them. */
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

  /** Maximum columns of a line that `redraw` does not truncate: a line that fills the last column would wrap. */
  get lineColumns(): number {
    return this.#width - 1;
  }

  /**
   * Replaces the last drawn lines, from the cursor's line on; each is truncated to the width of the terminal, and those
   * that exceed its height are omitted. For terminals only. Call `erase` or `keep` before any other output.
   */
  redraw(texts: readonly string[]): void {
    // More lines than the terminal has cannot be erased.
    const shown = texts.slice(0, this.#target.rows || DEFAULT_ROWS);
    const lines = shown.map((text) => truncateToWidth(escapeLine(text), this.lineColumns));
    this.#target.write(`${this.#clear()}${lines.join('\n')}`);
    this.#drawn = lines.map(displayWidth);
  }

  /** Erases the last drawn lines, if there are any. */
  erase(): void {
    if (this.#drawn.length === 0) return;
    this.#target.write(this.#clear());
    this.#drawn = [];
  }

  /** Leaves the last drawn lines in place, if there are any. */
  keep(): void {
    if (this.#drawn.length > 0) this.#target.write('\n');
    this.#drawn = [];
  }

  get #width(): number {
    return this.#target.columns || DEFAULT_COLUMNS;
  }

  /** Sequence that erases the drawn lines. If the terminal became narrower, each may now take several rows. */
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
