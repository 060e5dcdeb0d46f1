import { displayWidth } from '../../domain/text/characters.ts';
import { RUN_FILES } from '../../files/run-files.ts';

/** Maximum lines: they fit on a screen. */
const MAX_LISTED = 8;

/** Formats a number with separators. */
export function number(value: number): string {
  return value.toLocaleString('en-US');
}

/** The first texts of a list and the number of further ones, all of which are in summary.json. */
export function listed(texts: readonly string[], max = MAX_LISTED): string[] {
  const more = texts.length - max;
  return more > 1 ? [...texts.slice(0, max), `and ${number(more)} more in ${RUN_FILES.summary}`] : [...texts];
}

/** Width of a terminal, in columns. */
const COLUMNS = 80;

/** As many words of a list as fit on one row after a label, and how many more of `total` there are. */
export function oneRow(
  label: string,
  words: readonly string[],
  { total = words.length, separator = ', ' }: { readonly total?: number; readonly separator?: string } = {},
): string {
  const more = (count: number): string => (count === 0 ? '' : ` and ${count.toLocaleString('en-US')} more`);
  let shown = Math.min(words.length, COLUMNS);
  const line = (): string => `${label}${words.slice(0, shown).join(separator)}${more(total - shown)}`;
  while (shown > 1 && displayWidth(line()) > COLUMNS) shown--;
  return line();
}
