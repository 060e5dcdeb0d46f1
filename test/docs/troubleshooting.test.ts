import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => read(join('src', path)))
  .join('\n');

const headings = read('docs/troubleshooting.md')
  .split('\n')
  .filter((line) => line.startsWith('## '));
const messages = headings.flatMap((heading) => heading.split('`').filter((_, at) => at % 2 === 1));

it.each(messages)('the heading "%s" is a message of ours', (message) => {
  expect(sources).toContain(message);
});

it.each(['README.md', 'docs/README.md', 'docs/troubleshooting.md'])('what %s links to is there', (page) => {
  const links = [...read(page).matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)].map(([, path]) => path!);
  expect(links.filter((path) => !existsSync(join(root, dirname(page), path)))).toEqual([]);
});

it('the index names every page', () => {
  const index = read('docs/README.md');
  const pages = readdirSync(join(root, 'docs')).filter(
    (name) => name.endsWith('.md') && name !== 'README.md',
  );
  expect(pages.filter((name) => !index.includes(`(${name})`))).toEqual([]);
});
