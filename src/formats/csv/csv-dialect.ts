import { type CsvSeparation, type Delimiter, DELIMITERS } from './row-framer.ts';
import { type SharedWidth, sharedWidth } from './shared-width.ts';

/** The dialect of a delimited table. */
export interface CsvDialect extends CsvSeparation {
  /** Whether the first row names the columns. Otherwise they are named by position, starting with 1. */
  readonly header: boolean;
  /** The width shared by the rows if it differs from the first row's; null to use the first row's. */
  readonly width: SharedWidth | null;
}

/**
 * Detects the dialect of the table that starts with `head`, assuming a header. `isComplete` means that the head is the
 * whole file; `preferred` is the delimiter that the file's name suggests.
 */
export function sniffDialect(head: Buffer, isComplete: boolean, preferred: Delimiter | null): CsvDialect {
  const delimiter = sniffDelimiter(head, preferred);
  const separation = {
    delimiter,
    lineBreak: sniffLineBreak(head),
    namesDelimiter: namedDelimiter(head) !== null,
  };
  return { ...separation, header: true, width: sharedWidth(head, isComplete, separation) };
}

const CODES = DELIMITERS.map((candidate) => candidate.charCodeAt(0));

/** Maximum records to examine: enough to distinguish a delimiter from punctuation. */
const MAX_RECORDS = 50;

const QUOTE = '"'.charCodeAt(0);
const CR = '\r'.charCodeAt(0);
const LF = '\n'.charCodeAt(0);

/**
 * Detects the delimiter of the table that starts with `head`: the candidate that the most records contain outside
 * quotes as often as the header does; if several tie, the more frequent one. A comma if the header contains no
 * candidate. `preferred` (from the file's name) takes precedence if the header contains it.
 */
export function sniffDelimiter(head: Buffer, preferred: Delimiter | null): Delimiter {
  const named = namedDelimiter(head);
  if (named !== null) return named;
  const counts = delimiterCounts(head);
  const header = counts[0];
  if (header === undefined) return preferred ?? ',';
  if (preferred !== null && header[DELIMITERS.indexOf(preferred)]! > 0) return preferred;
  let best: Delimiter = ',';
  let bestScore = 0;
  DELIMITERS.forEach((candidate, index) => {
    const inHeader = header[index]!;
    if (inHeader === 0) return;
    const alike = counts.filter((record) => record[index] === inHeader).length / counts.length;
    const score = alike + inHeader / 10_000;
    if (score > bestScore) {
      best = candidate;
      bestScore = score;
    }
  });
  return best;
}

/**
 * Returns the delimiter named on a line before the header, as Excel writes and reads it: `sep=;`. Null if there is no
 * such line.
 */
function namedDelimiter(head: Buffer): Delimiter | null {
  const named = /^sep=(.)[\r\n]/i.exec(head.toString('latin1', 0, 6))?.[1];
  return DELIMITERS.find((candidate) => candidate === named) ?? null;
}

/**
 * Detects the line break of a table: the first one outside quotes. A lone CR there means that CR ends the table's
 * lines, regardless of later line breaks.
 */
export function sniffLineBreak(head: Buffer): '\n' | '\r' {
  for (let at = 0; at < head.length; at++) {
    at = quotedEnd(head, at);
    const byte = head[at];
    if (byte === LF) return '\n';
    if (byte !== CR) continue;
    // Some programs write CR CR LF, where the LF ends the line.
    while (head[at] === CR) at++;
    return head[at] === LF ? '\n' : '\r';
  }
  return '\n';
}

/** Counts each candidate outside quotes, for each of the first records. */
function delimiterCounts(head: Buffer): number[][] {
  const endsWithCr = sniffLineBreak(head) === '\r';
  const records: number[][] = [];
  let counts = CODES.map(() => 0);
  let empty = true;
  for (let at = 0; at < head.length && records.length < MAX_RECORDS; at++) {
    const end = quotedEnd(head, at);
    if (end > at) empty = false;
    at = end;
    const byte = head[at];
    if (byte === undefined || (byte === CR && !endsWithCr)) continue;
    if (byte === LF || byte === CR) {
      if (!empty) records.push(counts);
      counts = CODES.map(() => 0);
      empty = true;
      continue;
    }
    empty = false;
    const candidate = CODES.indexOf(byte);
    if (candidate >= 0) counts[candidate]!++;
  }
  // The last record may be truncated by the end of the head, so it counts only if it is the only one.
  if (!empty && records.length === 0) records.push(counts);
  return records;
}

/**
 * End offset of the quoted cell that starts at `from`; `from` itself if none starts there. A quote opens a cell only after
 * a line break or a delimiter, and closes it only before one.
 */
function quotedEnd(head: Buffer, from: number): number {
  if (head[from] !== QUOTE || (from > 0 && !isBoundary(head[from - 1]!))) return from;
  for (let at = head.indexOf(QUOTE, from + 1); at >= 0; at = head.indexOf(QUOTE, at + 1)) {
    const next = head[at + 1];
    if (next === QUOTE) at++;
    else if (next === undefined || isBoundary(next)) return at + 1;
  }
  return head.length;
}

function isBoundary(byte: number): boolean {
  return byte === LF || byte === CR || CODES.includes(byte);
}
