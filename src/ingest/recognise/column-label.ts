/** What names of columns look like: at most three words of letters, digits and joining marks, 40 characters in all. */
const NAME = /^(?=.{1,40}$)[\p{L}_][\p{L}\p{N}_.()/-]*( [\p{L}\p{N}_.()/-]+){0,2}$/u;

/**
 * How a column is named on the terminal. The first row of a table without a header is content, and must not be
 * shown: what does not look like a name is given by its position, counted from 1.
 */
export function columnLabel(name: string, position: number): string {
  if (name === String(position)) return name;
  return looksLikeName(name) ? JSON.stringify(name) : `column ${position}`;
}

/** Whether a name looks like one, and not like content. */
export function looksLikeName(name: string): boolean {
  return NAME.test(name.trim());
}
