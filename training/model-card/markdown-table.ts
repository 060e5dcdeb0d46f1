type Cell = string | number;

/** Shortest rule under a heading that Markdown takes for one. */
const MIN_RULE = 3;

/**
 * A Markdown table with columns padded to one width, as formatters want it: the first column and columns of words
 * aligned left, columns of numbers right. A column is one of numbers when its heading is among `numeric`.
 */
export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
  numeric: readonly string[],
): string {
  const cells = [head, ...rows].map((row) => row.map(String));
  const widths = head.map((_, column) => Math.max(MIN_RULE, ...cells.map((row) => row[column]!.length)));
  const isNumeric = head.map((heading) => numeric.includes(heading));
  const line = (row: readonly string[]): string => {
    const padded = row.map((cell, column) =>
      isNumeric[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
    );
    return `| ${padded.join(' | ')} |\n`;
  };
  const rule = widths.map((width, column) =>
    isNumeric[column] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width),
  );
  return [cells[0]!, rule, ...cells.slice(1)].map(line).join('');
}
