/**
 * How a string that somebody else chose is shown at a terminal or in a log: a file's name, a column, an id, a category
 * key, the name of an artifact, of a run or of a job. Shown raw, an escape sequence can recolour or erase what stands
 * there already, a line feed can forge a line of ours, and a bidirectional control can turn a line round.
 */

/** Control and format characters (which include the bidirectional ones), line and paragraph separators, halves of pairs. */
const UNSHOWN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const MAX_LENGTH = 200;

/**
 * The string with what is not printed as an escape (`\x1b`, `\u{202e}`), cut to `maxLength` characters. Plain
 * text stays as it is. Not for JSON, which has escapes of its own.
 */
export function shown(foreign: string, maxLength = MAX_LENGTH): string {
  const start = escaped(foreign.slice(0, maxLength));
  return foreign.length > maxLength ? `${start}…` : start;
}

/** One word, which cannot be taken for a sentence of ours. */
const PLAIN = /^[\p{L}\p{M}\p{N}_./@%+=~-]+$/u;

/**
 * A name inside a message or at the beginning of a line: as it is when it is one plain word, else as `shown` gives it and
 * in double quotes, so that it is seen where it ends.
 */
export function shownName(foreign: string, maxLength = MAX_LENGTH): string {
  const name = shown(foreign, maxLength);
  return PLAIN.test(foreign) ? name : `"${name.replaceAll('"', '\\"')}"`;
}

/** A whole line with what is not printed as an escape. What `shown` gives stays as it is. */
export function escaped(line: string): string {
  return line.replaceAll(UNSHOWN, escapeOf);
}

/**
 * The JSON text of a value, in which those characters stand as JSON escapes (`\u009b`), so that it can go to a
 * terminal; it parses to the same value. With `indent`, line feeds stand between the parts of the value only.
 */
export function shownJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replaceAll(UNSHOWN, (character) =>
    character === '\n' ? character : jsonEscapeOf(character),
  );
}

function escapeOf(character: string): string {
  const code = character.codePointAt(0)!;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}

/** One escape for each UTF-16 code unit, as JSON has them. */
function jsonEscapeOf(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
