import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { expect } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../../..');

/** The text of a file of the project. */
export const projectFile = (path: string): Promise<string> => readFile(join(ROOT, path), 'utf8');

/** Expects that a file of the project holds a text, laid out as all files are. `vitest run TEST -u` writes it. */
export async function expectFile(path: string, text: string): Promise<void> {
  const filepath = join(ROOT, path);
  const style = await resolveConfig(join(ROOT, 'package.json'));
  await expect(await format(text, { ...style, filepath })).toMatchFileSnapshot(filepath);
}

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
