type Cell = string | number;

/** Min length of a delimiter cell under a heading. */
const MIN_RULE = 3;

/**
 * A Markdown table with padded columns, as Prettier formats it. Columns whose heading is in `numeric` are aligned
 * right, the others left.
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
