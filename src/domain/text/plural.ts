/** Returns the noun for a count in a message: `file` for 1, `files` for any other. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return count === 1 ? one : many;
}
