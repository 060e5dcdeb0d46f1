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

const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));

it.each(['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...pages.map((name) => `docs/${name}`)])(
  'the files that %s links to or names exist',
  (page) => {
    const text = read(page);
    const linked = [...text.matchAll(/\]\((?!https?:)([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, path]) =>
      join(dirname(page), path!),
    );
    const named = [...text.matchAll(/`((?:src|test|workers|bench|training|web|jobs)\/[^`\s*<>{}$]+)`/g)].map(
      ([, path]) => path!,
    );
    expect([...linked, ...named].filter((path) => !existsSync(join(root, path)))).toEqual([]);
  },
);

it('the index names every page', () => {
  const index = read('docs/README.md');
  expect(pages.filter((name) => name !== 'README.md' && !index.includes(`(${name})`))).toEqual([]);
});
