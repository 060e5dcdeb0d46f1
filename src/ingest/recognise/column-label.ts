/** A plausible column name: up to three words of letters, digits and `_.()/-`, 40 characters in total. */
// linear: the look-ahead lets through 40 characters at most.
const NAME = /^(?=.{1,40}$)[\p{L}_][\p{L}\p{M}\p{N}_.()/-]*( [\p{L}\p{M}\p{N}_.()/-]+){0,2}$/u;

/**
 * The label of a column on the terminal. The first row of a table without a header is content and must not be printed, so
 * a value that does not look like a name is replaced by its 1-based position.
 */
export function columnLabel(name: string, position: number): string {
  if (name === String(position)) return name;
  return looksLikeName(name) ? JSON.stringify(name) : `column ${position}`;
}

/** Whether a value looks like a column name rather than content. */
export function looksLikeName(name: string): boolean {
  return NAME.test(name.trim());
}
