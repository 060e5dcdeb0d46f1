/** A Markdown table; Prettier aligns it. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** The text with `table` between the two comments that name it. */
export function withTable(text: string, name: string, table: string): string {
  const between = new RegExp(`(<!-- ${name}: .*? -->\n)[^]*?(\n<!-- end of ${name} -->)`);
  if (!between.test(text)) throw new Error(`the text has no place for the table ${name}`);
  return text.replace(between, (_, start: string, end: string) => `${start}\n${table}\n${end}`);
}
