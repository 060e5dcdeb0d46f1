/** Common words in column names. */
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
    'year age gender sex column field toxicity lat lon latitude longitude customer client product item raw clean full',
    'original translated of the in per by for is has',
  ].flatMap((line) => line.split(' ')),
);

const NUMBER = /^[-+]?[\d.,]+%?$/;
const YEAR = /^(19|20)\d\d$/;
const DATE = /^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?![\d])/;
const STRUCTURED = /^(https?:\/\/|[[{<]|[^\s@]+@[^\s@.]+\.[^\s@]+$|[0-9a-f]{8}-[0-9a-f]{4}-|[0-9a-f]{24,}$)/i;

/** Strings that programs write for a missing value. */
const MISSING = /^(|n\/?a|nan|null|nil|none|-+|\?)$/i;

/** Limits of a column name. A name of `MAX_NAME_WORDS` words consists only of common words. */
const MAX_NAME_CHARS = 60;
const MAX_NAME_WORDS = 4;

/**
 * Whether the first row of a table is a header, judging by the rows below it. `wanted` are the columns the user asked
 * for.
 *
 * A row mistaken for a header is lost; a header mistaken for a row only adds one text. So in a table with one column,
 * the first cell must look like a column name. A table with several columns has a header unless its first row shows
 * signs of data, because its columns are found by name. A value is always such a sign. A sentence is one too, unless
 * another cell is a name above numbers or dates: in a survey, the questions are the header. Deterministic.
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
  const columns = names.map((name, column) => ({ name, cells: valuesOf(below, column) }));
  if (columns.length === 1) return isOnlyName(columns[0]!.name) && !columns[0]!.cells.includes(names[0]!);
  // Repetitions of the first row do not count: a repeated header is not a value of its columns.
  const others = below.filter((row) => row.some((cell, column) => cell.trim() !== names[column]));
  if (columns.some(({ name, cells }, column) => isValue(name, cells, valuesOf(others, column)))) return false;
  if (columns.some(({ name, cells }) => isNameAboveNumbers(name, cells))) return true;
  return !names.some(isSentence);
}

/** The values of a column that are not missing. */
function valuesOf(rows: readonly (readonly string[])[], column: number): string[] {
  return rows.map((row) => (row[column] ?? '').trim()).filter((cell) => !MISSING.test(cell));
}

/**
 * Whether a cell of the first row is data: equal to a value in its column, of the same kind as its values, or
 * impossible as a column name.
 */
function isValue(name: string, cells: readonly string[], others: readonly string[]): boolean {
  if (name === '') return false;
  // A year or date above other numbers is a column name.
  const kind = [DATE, YEAR, NUMBER].find((each) => each.test(name));
  if (kind !== undefined && cells.every((cell) => kind.test(cell))) return true;
  return others.includes(name) || MISSING.test(name) || STRUCTURED.test(name);
}

function isNameAboveNumbers(name: string, cells: readonly string[]): boolean {
  const isName = name !== '' && !isMeasured(name) && !isSentence(name);
  return isName && cells.length > 0 && cells.every(isMeasured);
}

function isMeasured(cell: string): boolean {
  return NUMBER.test(cell) || DATE.test(cell);
}

function isSentence(name: string): boolean {
  if (name.length > MAX_NAME_CHARS || /[\r\n]/.test(name)) return true;
  const words = wordsOf(name);
  if (words.length >= 2 && /[.!?\u2026]$/.test(name)) return true;
  return words.length >= MAX_NAME_WORDS && !isMadeOfNameWords(name);
}

function isMadeOfNameWords(name: string): boolean {
  const words = wordsOf(name);
  return words.length > 0 && words.length <= MAX_NAME_WORDS && words.every(isNameWord);
}

/**
 * Whether the only cell of a row looks like a column name: it consists of common words, or ends in one after an
 * underscore.
 */
function isOnlyName(name: string): boolean {
  if (/[.!?\u2026]$/.test(name)) return false;
  const hasUnderscores = /^[\p{L}\d]+_[\p{L}\d_]+$/u.test(name);
  return isMadeOfNameWords(name) || (hasUnderscores && isNameWord(wordsOf(name).at(-1) ?? ''));
}

function isNameWord(word: string): boolean {
  return NAME_WORDS.has(word.toLowerCase());
}

/** The words of a name; splits `twoWords` and `two_words`. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .split(/[\s_\-.]+/)
    .filter((word) => word !== '');
}
