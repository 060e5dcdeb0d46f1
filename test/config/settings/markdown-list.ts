/** A Markdown list of names and what they mean. */
export function markdownList(items: readonly { readonly name: string; readonly text: string }[]): string {
  return items.map(({ name, text }) => `- ${name}: ${text}`).join('\n');
}

/** The text with `list` between the two comments that name it. */
export function withList(text: string, name: string, list: string): string {
  const between = new RegExp(`(<!-- ${name}: .*? -->\n)[^]*?(\n<!-- end of ${name} -->)`);
  if (!between.test(text)) throw new Error(`the text has no place for the list ${name}`);
  return text.replace(between, (_, start: string, end: string) => `${start}\n${list}\n${end}`);
}
