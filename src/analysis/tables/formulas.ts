/** Characters that begin a formula, in any width: every character that NFKC turns into `=`, `+`, `-` or `@`. */
const SIGN =
  '=+\\-@\\u207a-\\u207c\\u208a-\\u208c\\ufb29\\ufe62\\ufe63\\ufe66\\ufe6b\\uff0b\\uff0d\\uff1d\\uff20';

/**
 * Characters at which some reader may split cells, regardless of the separator written: separators of any width, every
 * control character, and every space but U+0020.
 */
const BOUNDARY =
  ',;:|\\uff0c\\uff1a\\uff1b\\uff5c\\p{Cc}\\p{Zl}\\p{Zp}\\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000';

/**
 * Invisible characters that may precede a sign; those after `\p{Cf}` are ignorable by default. Disjoint from
 * `BOUNDARY`, which keeps matching linear.
 */
const UNSEEN =
  '\\p{Cf}\\p{Cs}\\ufffd"\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\uffa0\\ufff0-\\ufff8\\u{e0000}-\\u{e0fff}';

/** A sign that would be the first visible character of a cell. */
const FIRST = `(^|[${BOUNDARY}])([ ${UNSEEN}]*)([${SIGN}])`;

/**
 * Like `FIRST`, for readers that split cells at U+0020. A sign followed by a space would then be a cell of its own and
 * not a formula, so a dash between words is left unchanged.
 */
const FIRST_IN_WORDS = `( [${UNSEEN}]*)([${SIGN}])([^ ]|$)`;

/** Readers differ in how they treat cells that begin with one of these. */
const LEADING_CONTROL = '^[\\t\\r\\n]';

const PATTERNS = {
  sign: new RegExp(`[${SIGN}]`, 'u'),
  first: new RegExp(FIRST, 'gu'),
  firstInWords: new RegExp(FIRST_IN_WORDS, 'gu'),
  leadingControl: new RegExp(LEADING_CONTROL, 'u'),
};

/** Puts an apostrophe before every sign that a spreadsheet could take for the beginning of a formula. */
export function inertText(text: string): string {
  const marked = PATTERNS.sign.test(text)
    ? text.replace(PATTERNS.first, "$1$2'$3").replace(PATTERNS.firstInWords, "$1'$2$3")
    : text;
  return PATTERNS.leadingControl.test(marked) ? `'${marked}` : marked;
}

/**
 * SQL macro `cell(text)`: does the same as `inertText`, and quotes the cell where RFC 4180 requires it. Most strings
 * contain none of these characters and cost a single test. DuckDB's patterns differ only in how they name a character.
 */
export function cellMacro(separator: string): string {
  const quoted = `"\\r\\n${separator}`;
  return `
    CREATE MACRO inert(text) AS if(regexp_matches(text, ${inSql(LEADING_CONTROL)}), '''', '') ||
      regexp_replace(regexp_replace(text, ${inSql(FIRST)}, '\\1\\2''\\3', 'g'),
        ${inSql(FIRST_IN_WORDS)}, '\\1''\\2\\3', 'g');
    CREATE MACRO cell(text) AS CASE
      WHEN NOT regexp_matches(text, ${inSql(`[${SIGN}\\t${quoted}]`)}) THEN text
      WHEN regexp_matches(text, ${inSql(`[${quoted}]`)}) THEN '"' || replace(inert(text), '"', '""') || '"'
      ELSE inert(text) END;`;
}

function inSql(pattern: string): string {
  const named = pattern.replaceAll(/\\u\{?([0-9a-f]{4,5})\}?/g, '\\x{$1}');
  return `'${named.replaceAll("'", "''")}'`;
}
