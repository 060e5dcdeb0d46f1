/** What names of columns look like: at most three words of letters, digits and joining marks, 40 characters in all. */
const NAME = /^(?=.{1,40}$)[\p{L}_][\p{L}\p{N}_.()/-]*( [\p{L}\p{N}_.()/-]+){0,2}$/u;

/**
 * How a column is named on the terminal. The first row of a table without a header is content, and must not be
 * shown: what does not look like a name is given by its position, counted from 1.
 */
export function columnLabel(name: string, position: number): string {
  return NAME.test(name.trim()) ? JSON.stringify(name) : `column ${position}`;
}
