/** Words that names of columns are made of. */
const NAME_WORDS = new Set(
  [
    'id uuid guid key index idx row no nr num number seq code hash ref url link uri path file filename',
    'text texts content contents body message messages msg comment comments prompt prompts response responses',
    'completion output input instruction instructions question questions answer answers query title subject headline',
    'summary description desc caption post posts tweet tweets review reviews feedback reply replies note notes',
    'sentence sentences utterance utterances transcript document documents article articles paragraph context',
    'conversation conversations dialogue dialog chosen rejected role speaker author user username sender from to name',
    'first last email phone address city country region state zip lang language locale source target label labels',
    'class category categories tag tags type kind topic status score scores rating ratings stars count total amount',
    'price value values level rank priority date time datetime timestamp created updated posted published day month',
    'year age gender sex column field toxicity lat lon latitude longitude',
  ].flatMap((line) => line.split(' ')),
);

const NUMBER = /^[-+]?[\d.,]+%?$/;
const YEAR = /^(19|20)\d\d$/;
const DATE = /^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?![\d])/;
const STRUCTURED = /^(https?:\/\/|[[{<]|[^\s@]+@[^\s@.]+\.[^\s@]+$|[0-9a-f]{8}-[0-9a-f]{4}-|[0-9a-f]{24,}$)/i;

/** Longer than names of columns are, in characters and in words. */
const LONG_NAME = 60;
const MANY_WORDS = 4;

/**
 * Whether the first row of a table names its columns, told from the rows below it. `wanted` are columns the user
 * asked for. A row that is mistaken for a header is lost, a header that is mistaken for a row is one text too many: so
 * in a table of one column only what looks like a name is one. A table of several columns needs a sign that its first
 * row is data, since its columns go by their names. The same rows always give the same answer.
 */
export function hasHeader(rows: readonly (readonly string[])[], wanted: readonly string[]): boolean {
  const [first, ...below] = rows;
  if (first === undefined) return true;
  const names = first.map((cell) => cell.trim());
  const folded = new Set(names.map((name) => name.toLowerCase()));
  if (wanted.length > 0) {
    if (wanted.some((name) => folded.has(name.toLowerCase()))) return true;
    if (wanted.every((name) => /^[1-9]\d{0,4}$/.test(name) && Number(name) <= names.length)) return false;
  }
  if (names.length === 1) return isMadeOfNameWords(names[0]!) || /^[\p{L}\d]+_[\p{L}\d_]+$/u.test(names[0]!);
  if (names.some((name) => !/\s/.test(name) && isPlainName(name) && isMadeOfNameWords(name))) return true;
  const columns = names.map((name, column) => ({ name, cells: cellsOf(below, column) }));
  const others = below.filter((row) => row.some((cell, column) => cell.trim() !== names[column]));
  if (columns.some(({ name, cells }) => isNameAboveNumbers(name, cells))) return true;
  return !columns.some(({ name, cells }, column) => isData(name, cells, cellsOf(others, column)));
}

/** The values of a column that are not blank. */
function cellsOf(rows: readonly (readonly string[])[], column: number): string[] {
  return rows.map((row) => (row[column] ?? '').trim()).filter((cell) => cell !== '');
}

function isNameAboveNumbers(name: string, cells: readonly string[]): boolean {
  return isPlainName(name) && cells.length > 0 && cells.every(isMeasured);
}

/** Whether a cell of the first row is a value: of the column's own kind, one of its values, or no name at all. */
function isData(name: string, cells: readonly string[], others: readonly string[]): boolean {
  if (name === '') return false;
  if (isMeasured(name)) return !YEAR.test(name) && cells.length > 0 && cells.every(isMeasured);
  return others.includes(name) || STRUCTURED.test(name) || isSentence(name);
}

function isMeasured(cell: string): boolean {
  return NUMBER.test(cell) || DATE.test(cell);
}

function isPlainName(name: string): boolean {
  return name !== '' && !isMeasured(name) && !STRUCTURED.test(name) && !isSentence(name);
}

function isSentence(name: string): boolean {
  if (name.length > LONG_NAME || /[\r\n]/.test(name)) return true;
  const words = wordsOf(name);
  if (words.length >= 2 && /[.!?\u2026]$/.test(name)) return true;
  return words.length >= MANY_WORDS && !isMadeOfNameWords(name);
}

function isMadeOfNameWords(name: string): boolean {
  const words = wordsOf(name);
  return (
    words.length > 0 &&
    words.length <= MANY_WORDS &&
    !/[.!?\u2026]$/.test(name) &&
    NAME_WORDS.has(words.at(-1)!.toLowerCase())
  );
}

/** The words of a name, also of one written as `twoWords` or `two_words`. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .split(/[\s_\-.]+/)
    .filter((word) => word !== '');
}
