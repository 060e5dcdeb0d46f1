/** A string as a literal in SQL. */
export function sqlText(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}
