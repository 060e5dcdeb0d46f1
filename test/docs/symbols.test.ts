import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const filesOf = (...patterns: string[]): string[] =>
  execFileSync('git', ['ls-files', ...patterns], { cwd: root, encoding: 'utf8' })
    .trim()
    .split('\n');
const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** Names of code in mixed case that stand alone: `readManifest()`, `GuardPool.judge`. Parts of other words are not. */
const SYMBOL = /`([a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*)(?:\.(\w+))?(?:\(\))?`/g;

it('every symbol that a page cites is in the code', () => {
  const code = filesOf(
    'src/*.ts',
    'web/*.ts*',
    'workers/*.ts',
    'bench/*.ts',
    'training/*.ts',
    'test/*.ts',
    'proto/*',
    'jobs/*',
  )
    .map(read)
    .join('\n');
  const known = new Set(code.match(/\w+/g));
  const missing = filesOf('docs/*.md', 'README.md', 'CONTRIBUTING.md', 'SECURITY.md').flatMap((page) =>
    [...read(page).matchAll(SYMBOL)].flatMap(([cited, name, member]) =>
      [name, member].every((word) => word === undefined || known.has(word)) ? [] : `${page}: ${cited}`,
    ),
  );
  expect(missing).toEqual([]);
});
