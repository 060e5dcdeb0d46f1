import { chmod, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { folderWith } from '../helpers/cli.ts';
import { until } from '../helpers/run-directory.ts';

/** Stands in for npm: notes its arguments and environment. */
const NPM = `#!/usr/bin/env node
const { copyFileSync, mkdirSync, writeFileSync } = require('node:fs');
writeFileSync('npm.json', JSON.stringify({ args: process.argv.slice(2), env: process.env }));
mkdirSync('node_modules', { recursive: true });
copyFileSync('package-lock.json', 'node_modules/.package-lock.json');
`;

/** Stands in for the bundler of the programs. */
const PROGRAMS = `import { mkdirSync, writeFileSync } from 'node:fs';
mkdirSync('dist/src/cli', { recursive: true });
writeFileSync('dist/src/cli/main.js', 'console.log("ran")');
`;

/** Stands in for the build of the pages. */
const PAGES = `import { writeFileSync } from 'node:fs';
writeFileSync('dist/pages', '');
`;

/** A lock with one package, and one for another platform. */
const lockOf = (integrity: string): string =>
  JSON.stringify({
    packages: {
      '': { name: 'guardsweep' },
      'node_modules/a': { integrity },
      'node_modules/a-elsewhere': { integrity, optional: true },
    },
  });

/** A fresh checkout with nothing in it but the bootstrap. */
async function checkout() {
  const root = await folderWith({
    'src/bundle.mjs': PROGRAMS,
    'web/build.mjs': PAGES,
    'bin/npm': NPM,
    'package.json': '{"type":"commonjs"}',
    'package-lock.json': lockOf('sha512-old'),
    'src/cli/bootstrap.mjs': await readFile(new URL('../../src/cli/bootstrap.mjs', import.meta.url)),
  });
  await chmod(join(root, 'bin/npm'), 0o755);
  return { root, start: (env: NodeJS.ProcessEnv = {}) => begin(root, env) };
}

/** Starts the bootstrap of a checkout. `output` is what it has said so far, `done` all of it when it has ended. */
function begin(root: string, env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, [join(root, 'src/cli/bootstrap.mjs'), 'cli', 'x'], {
    env: { PATH: `${join(root, 'bin')}:${process.env.PATH}`, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  const closed = once(child, 'close');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await closed;
  });
  return { output, done: async () => (await closed, output) };
}

it('bundles the programs and builds the pages, and again when a page has more than another time', async () => {
  const { root, start } = await checkout();
  expect((await start().done()).stderr).toMatch(/bundling the programs[^]*building the pages/);
  await stat(join(root, 'dist/pages'));
  expect((await start().done()).stderr).toBe('');
  const page = join(root, 'web/build.mjs');
  const later = new Date(Date.now() + 60_000);
  await utimes(page, later, later);
  expect((await start().done()).stderr).toBe('');
  await writeFile(page, `${PAGES}// changed\n`);
  await utimes(page, new Date(0), new Date(0));
  expect((await start().done()).stderr).toContain('building the pages');
});

it('installs without secrets and scripts, and again when the lock names another version', async () => {
  const { root, start } = await checkout();
  const keys = { GUARD_API_KEY: 'k', GUARD_API_KEY__HOST: 'k' };
  const secrets = { ...keys, GUARD_TOKEN: 't', REDIS_URL: 'redis://:p@h' };
  expect((await start({ ...secrets, KEPT: 'yes' }).done()).stdout).toBe('ran\n');
  type Called = { readonly args: string[]; readonly env: NodeJS.ProcessEnv };
  const npm = JSON.parse(await readFile(join(root, 'npm.json'), 'utf8')) as Called;
  expect(npm.args).toEqual(expect.arrayContaining(['ci', '--ignore-scripts']));
  expect(npm.env).toMatchObject({ KEPT: 'yes' });
  for (const name of Object.keys(secrets)) expect(npm.env).not.toHaveProperty(name);
  // However old the lock is.
  const lock = join(root, 'package-lock.json');
  await writeFile(lock, lockOf('sha512-new'));
  await utimes(lock, new Date(0), new Date(0));
  expect((await start().done()).stderr).toMatch(/installing[^]*bundling the programs/);
  expect((await start().done()).stderr).toBe('');
});

it('waits, with a word, for a lock that a living or a foreign process holds', async () => {
  const { root, start } = await checkout();
  const lock = join(root, '.setup.lock');
  await writeFile(lock, 'elsewhere 1');
  const started = start();
  await until(async () => started.output.stderr.includes('waiting for another process'), 'a word');
  expect(started.output.stdout).toBe('');
  await rm(lock);
  expect((await started.done()).stdout).toBe('ran\n');
});
