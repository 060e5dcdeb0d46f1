import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { isRetryable, ITEM_CODES, ITEM_ERROR_REASONS } from '../../src/domain/item-error.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => read(join('src', path)))
  .join('\n');

const errors = read('docs/errors.md');
const [, ofMessages] = errors.split('\n## Messages\n');
const messages = [...ofMessages!.matchAll(/^\| `([^`]+)`/gm)].map(([, message]) => message!);

it.each(messages)('"%s" is a message of ours', (message) => {
  expect(sources).toContain(message);
});

/** The codes in the first column of the table below a heading. */
function codesBelow(heading: string): string[] {
  const section = errors.slice(errors.indexOf(`\n### ${heading}\n`)).split('\n### ')[1]!;
  return [...section.matchAll(/^\| `(\w+)`/gm)].map(([, code]) => code!);
}

it('the page of errors has every code and reason, the temporary ones apart', () => {
  const retryable = ITEM_CODES.filter((code) => isRetryable({ code }));
  expect(codesBelow('Temporary errors').sort()).toEqual(retryable.sort());
  const final = ITEM_CODES.filter((code) => !isRetryable({ code }));
  expect(codesBelow('Final errors').sort()).toEqual(final.sort());
  expect(ITEM_ERROR_REASONS.filter((reason) => !errors.includes(`\`${reason}\``))).toEqual([]);
});

const documents = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));

/** The anchors of a page, as GitHub makes them from its headings. */
const anchorsOf = (page: string): string[] =>
  [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );

it.each(['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...documents.map((name) => `docs/${name}`)])(
  'the files and headings that %s links to or names exist',
  (page) => {
    const text = read(page);
    const links = [...text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)]*))?\)/g)].map(
      ([link, path, anchor]) => ({ link, path: path === '' ? page : join(dirname(page), path!), anchor }),
    );
    const named = [...text.matchAll(/`((?:src|test|workers|bench|training|web|jobs)\/[^`\s*<>{}$]+)`/g)].map(
      ([, path]) => path!,
    );
    const broken = links.filter(
      ({ path, anchor }) =>
        !existsSync(join(root, path)) || (anchor !== undefined && !anchorsOf(path).includes(anchor)),
    );
    expect(broken.map(({ link }) => link)).toEqual([]);
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  },
);

it('the index names every page', () => {
  const index = read('docs/README.md');
  expect(documents.filter((name) => name !== 'README.md' && !index.includes(`(${name})`))).toEqual([]);
});

// Plain JavaScript, which has no types.
const configuration = join(root, 'eslint.config.js');
const { ROOMS } = (await import(configuration)) as { readonly ROOMS: readonly string[] };

it('the linter and the architecture page have every room, in the same order', () => {
  const entries = readdirSync(join(root, 'src'), { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  expect([...ROOMS].sort()).toEqual(folders.sort());
  const [table] = /\| room [^]*?\n\n/.exec(read('docs/architecture.md'))!;
  expect([...table.matchAll(/^\| `([a-z-]+)`/gm)].map(([, room]) => room)).toEqual(ROOMS);
});
