import { copyFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { guardsweep, temporaryFolder } from '../helpers/cli.ts';

/** The permissions of files and folders, in octal. */
const modes = (...paths: string[]): string[] =>
  paths.map((path) => (statSync(path).mode & 0o777).toString(8));

it('what is made for output is for its owner alone, whatever the umask', async () => {
  const before = process.umask(0);
  onTestFinished(() => void process.umask(before));
  const cwd = await temporaryFolder();
  writeFileSync(join(cwd, 'a.csv'), 'text\none\n');
  const done = await guardsweep(['enqueue', 'a.csv', '--out', 'deep/runs', '--quiet'], { cwd });
  const run = done.stdout.trimEnd().split('\n').at(-1)!;
  expect(modes(join(cwd, 'deep'), join(cwd, 'deep/runs'), run, join(run, 'control'))).toEqual(
    Array(4).fill('700'),
  );
  expect(modes(join(run, 'run.json'), join(run, 'verdicts.csv'))).toEqual(['600', '600']);
  copyFileSync(new URL('../fixtures/images/palette.png', import.meta.url), join(cwd, 'b.png'));
  expect((await guardsweep(['normalize', 'b.png', '--out', 'deep/normal'], { cwd })).status).toBe(0);
  expect(modes(join(cwd, 'deep/normal'), join(cwd, 'deep/normal/b.png.png'))).toEqual(['700', '600']);
});
