const CANDIDATES = [',', ';', '\t', '|'] as const;

export type Delimiter = (typeof CANDIDATES)[number];

/** Records looked at: enough to tell a delimiter from punctuation. */
const RECORDS = 50;

const QUOTE = '"'.charCodeAt(0);
const CR = '\r'.charCodeAt(0);
const LF = '\n'.charCodeAt(0);

/**
 * The delimiter of the table that begins with `head`: the one that most records have as often as the header does,
 * outside quotes; among equals the more frequent one. A comma when nothing divides the header. With `preferred`
 * (from the file's name), that one whenever the header has it.
 */
export function sniffDelimiter(head: Buffer, preferred: Delimiter | null): Delimiter {
  const named = namedDelimiter(head);
  if (named !== null) return named;
  const counts = delimiterCounts(head);
  const header = counts[0];
  if (header === undefined) return preferred ?? ',';
  if (preferred !== null && header[CANDIDATES.indexOf(preferred)]! > 0) return preferred;
  let best: Delimiter = ',';
  let bestScore = 0;
  CANDIDATES.forEach((candidate, index) => {
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
 * The delimiter that the line before the header names, as Excel writes and reads it: `sep=;`. Null when there is no
 * such line.
 */
export function namedDelimiter(head: Buffer): Delimiter | null {
  const named = /^sep=(.)[\r\n]/i.exec(head.toString('latin1', 0, 6))?.[1];
  return CANDIDATES.find((candidate) => candidate === named) ?? null;
}

/**
 * The line break of a table: the one its header ends with, outside quotes. A lone CR says that the table's lines end
 * with CR, whatever its cells and its last line hold.
 */
export function sniffLineBreak(head: Buffer): '\n' | '\r' {
  let quoted = false;
  for (let at = 0; at < head.length; at++) {
    const byte = head[at]!;
    if (byte === QUOTE) quoted = !quoted;
    if (quoted || (byte !== LF && byte !== CR)) continue;
    if (byte === LF) return '\n';
    // Some programs write CR CR LF; the LF is what ends the line then.
    while (head[at] === CR) at++;
    return head[at] === LF ? '\n' : '\r';
  }
  return '\n';
}

/** How often each candidate occurs outside quotes, for each of the first records. */
function delimiterCounts(head: Buffer): number[][] {
  const codes = CANDIDATES.map((candidate) => candidate.charCodeAt(0));
  const endsWithCr = sniffLineBreak(head) === '\r';
  const records: number[][] = [];
  let counts = codes.map(() => 0);
  let quoted = false;
  let empty = true;
  for (let at = 0; at < head.length && records.length < RECORDS; at++) {
    const byte = head[at]!;
    if (byte === QUOTE) quoted = !quoted;
    if (byte === CR && !endsWithCr) continue;
    if (!quoted && (byte === LF || byte === CR)) {
      if (!empty) records.push(counts);
      counts = codes.map(() => 0);
      empty = true;
      continue;
    }
    empty = false;
    if (quoted) continue;
    const candidate = codes.indexOf(byte);
    if (candidate >= 0) counts[candidate]!++;
  }
  // The last record may be cut short by the end of the head; on its own it still tells the delimiter.
  if (!empty && records.length === 0) records.push(counts);
  return records;
}
