/**
 * Escapes untrusted strings for a terminal or a log: names of files, columns, artifacts, runs and jobs, ids, category
 * keys. If printed raw, an escape sequence can recolour or erase other output, a line feed can forge a line, and a
 * bidirectional control can reorder one.
 */

/** Control and format characters (including bidirectional ones), line and paragraph separators, lone surrogates. */
const UNSHOWN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const MAX_LENGTH = 200;

/**
 * Escapes unsafe characters (`\x1b`, `\u{202e}`) and truncates the string to `maxLength` characters. Other text is
 * unchanged. Not for JSON, which has its own escapes (`toPrintableJson`).
 */
export function escapeText(foreign: string, maxLength = MAX_LENGTH): string {
  const start = escapeLine(foreign.slice(0, maxLength));
  return foreign.length > maxLength ? `${start}…` : start;
}

/** A single word, which cannot be mistaken for the surrounding message. */
const PLAIN = /^[\p{L}\p{M}\p{N}_./@%+=~-]+$/u;

/**
 * Formats a name in a message or at the beginning of a line: unchanged if it is one plain word, otherwise escaped as by
 * `escapeText` and in double quotes to show where it ends.
 */
export function quoteName(foreign: string, maxLength = MAX_LENGTH): string {
  const name = escapeText(foreign, maxLength);
  return PLAIN.test(foreign) ? name : `"${name.replaceAll('"', '\\"')}"`;
}

/** Escapes unsafe characters in a whole line. Does not change a result of `escapeText`. */
export function escapeLine(line: string): string {
  return line.replaceAll(UNSHOWN, escapeOf);
}

/**
 * Formats a value as JSON with unsafe characters as JSON escapes (`\u009b`), safe for a terminal; it parses to the same
 * value. Line feeds occur only between tokens, and only with `indent`.
 */
export function toPrintableJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replaceAll(UNSHOWN, (character) =>
    character === '\n' ? character : jsonEscapeOf(character),
  );
}

function escapeOf(character: string): string {
  const code = character.codePointAt(0)!;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}

/** Returns one JSON escape per UTF-16 code unit. */
function jsonEscapeOf(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}

/**
 * Formats a command to type, in the form that started this process: an npm script of this package, npx, or the binary.
 */
export function formatCliCommand(name: string, words: readonly string[], env: NodeJS.ProcessEnv): string {
  if (env['npm_lifecycle_event'] === undefined) return ['guardsweep', name, ...words].join(' ');
  // Scripts of other packages, and npx, start the installed program; only ours has a script for each command.
  if (env['npm_lifecycle_event'] === 'npx' || env['npm_package_name'] !== 'guardsweep') {
    return ['npx guardsweep', name, ...words].join(' ');
  }
  return ['npm run', name, ...(words.length > 0 ? ['--', ...words] : [])].join(' ');
}

/**
 * Quotes a word for a shell. A word with unprintable characters becomes octal escapes in `$'…'` (POSIX.1-2024; long
 * supported by bash, zsh and ksh).
 */
export function shellWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  if (escapeLine(word) === word) return `'${word.replaceAll("'", `'\\''`)}'`;
  const bytes = [...Buffer.from(word)].map((byte) =>
    /[\w@%+=:,./ -]/.test(String.fromCharCode(byte))
      ? String.fromCharCode(byte)
      : `\\${byte.toString(8).padStart(3, '0')}`,
  );
  return `$'${bytes.join('')}'`;
}
