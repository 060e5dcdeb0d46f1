import { columnsIn } from '../../domain/text/width.ts';
import { RUN_FILES } from '../../files/run-files.ts';

/** Lines that belong together, in the order of their importance. An entry of several lines is shown as a whole or not. */
export interface Block {
  readonly lines: readonly string[];
  /** Lines that are always shown; default: all. */
  readonly keep?: number;
  /** Which block gives up lines first: the highest number. */
  readonly rank?: number;
}

/** A terminal of 80 × 24, without the prompt. */
const ROWS = 23;
const COLUMNS = 80;

/**
 * Lines that fit on one screen: blocks give up their last lines, those of the highest rank first. A line then says where
 * the rest is; it goes before the last block.
 */
export function oneScreen(blocks: readonly Block[]): string[] {
  const shown = blocks.map(({ lines, keep = lines.length }) => lines.slice(0, Math.max(keep, ROWS)));
  let left = blocks.reduce((sum, { lines }, at) => sum + lines.length - shown[at]!.length, 0);
  const rows = (): number => shown.flat().reduce((sum, line) => sum + rowsOf(line), left > 0 ? 1 : 0);
  const givers = blocks
    .map(({ keep, rank = 0 }, at) => ({
      lines: shown[at]!,
      keep: keep ?? Number.POSITIVE_INFINITY,
      rank,
      at,
    }))
    .sort((a, b) => b.rank - a.rank || b.at - a.at);
  for (const { lines, keep } of givers) {
    while (lines.length > keep && rows() > ROWS) {
      lines.pop();
      left++;
    }
  }
  if (left > 0) shown.splice(-1, 0, [`More: ${RUN_FILES.report} and ${RUN_FILES.summary}`]);
  return shown.flat().flatMap((entry) => entry.split('\n'));
}

function rowsOf(entry: string): number {
  return entry.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(columnsIn(line) / COLUMNS)), 0);
}

/** Words of a list after a label, as many as one row has room for, and how many more of `total` there are. */
export function oneRow(
  label: string,
  words: readonly string[],
  { total = words.length, separator = ', ' }: { readonly total?: number; readonly separator?: string } = {},
): string {
  const more = (count: number): string => (count === 0 ? '' : ` and ${count.toLocaleString('en-US')} more`);
  let shown = Math.min(words.length, COLUMNS);
  const line = (): string => `${label}${words.slice(0, shown).join(separator)}${more(total - shown)}`;
  while (shown > 1 && columnsIn(line()) > COLUMNS) shown--;
  return line();
}
