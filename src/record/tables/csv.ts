import { stringify } from 'csv-stringify/sync';
import type { CsvSeparator } from '../../config/run-config.ts';

export type Cell = string | number | null | undefined;

/** A byte order mark, so that spreadsheets read UTF-8. */
const TABLE_START = '\ufeff';

/** For cells that need quotes, line breaks of any kind included. */
const QUOTED = { eof: false, quoted: true } as const;

/** Signs that begin a formula, in any width: every character that NFKC turns into `=`, `+`, `-` or `@`. */
const SIGN =
  '[=+\\-@\\u207a-\\u207c\\u208a-\\u208c\\ufb29\\ufe62\\ufe63\\ufe66\\ufe6b\\uff0b\\uff0d\\uff1d\\uff20]';

/**
 * Characters at which some reader may split cells, whatever separator was written: separators of any width, every
 * control character, and every space but U+0020.
 */
const BOUNDARY =
  ',;:|\\uff0c\\uff1a\\uff1b\\uff5c\\p{Cc}\\p{Zl}\\p{Zp}\\xa0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000';

/** Characters before a sign that are not visible. Disjoint from `BOUNDARY`, which keeps matching linear. */
const UNSEEN = '\\p{Cf}\\p{Cs}\\p{Default_Ignorable_Code_Point}\\ufffd"';

/** Fast path: most cells have no sign at all. */
const ANY_SIGN = new RegExp(SIGN, 'u');

/** Everything before a sign that would be the first visible character of a cell. */
const BEFORE_SIGN = new RegExp(`(?:^|[${BOUNDARY}])[ ${UNSEEN}]*(?=${SIGN})`, 'gu');

/**
 * The same where U+0020 separates cells. A sign followed by a space is then a cell of its own and no formula: a dash
 * between words stays as it is.
 */
const BEFORE_SIGN_IN_WORDS = new RegExp(` [${UNSEEN}]*(?=${SIGN}(?! ))`, 'gu');

/** Readers differ in how they treat cells that begin with one of these. */
const LEADING_CONTROL = /^[\t\r\n]/;

/** Cells with one of these need quotes, by separator. */
const SPECIAL: Readonly<Record<CsvSeparator, RegExp>> = {
  ',': /[",\r\n]/,
  ';': /[";\r\n]/,
  '\t': /["\t\r\n]/,
};

/**
 * A table for people: RFC 4180 with CRLF, and with another separator where one is chosen. No cell can begin a formula,
 * even when it is read with a separator other than its own; numbers stay numbers.
 */
export class CsvTable {
  readonly #separator: CsvSeparator;
  readonly #special: RegExp;

  constructor(separator: CsvSeparator) {
    this.#separator = separator;
    this.#special = SPECIAL[separator];
  }

  /** The first line. */
  head(columns: readonly string[]): string {
    return TABLE_START + this.row(columns);
  }

  row(cells: readonly Cell[]): string {
    let row = '';
    for (let index = 0; index < cells.length; index++) {
      if (index > 0) row += this.#separator;
      row += this.#cell(cells[index]);
    }
    return `${row}\r\n`;
  }

  /** Most texts need neither quotes nor an apostrophe, and calling the library for each would dominate the time. */
  #cell(value: Cell): string {
    if (value === null || value === undefined) return '';
    if (typeof value === 'number') return String(value);
    const inert = inertText(value);
    return this.#special.test(inert) ? stringify([[inert]], QUOTED) : inert;
  }
}

/** Puts an apostrophe before every sign that a spreadsheet could take for the beginning of a formula. */
export function inertText(text: string): string {
  const marked = ANY_SIGN.test(text)
    ? text.replace(BEFORE_SIGN, "$&'").replace(BEFORE_SIGN_IN_WORDS, "$&'")
    : text;
  return LEADING_CONTROL.test(marked) ? `'${marked}` : marked;
}
