import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { runCommands } from '../../src/cli/run/run-commands.ts';
import { folderWith, printedRun } from '../helpers/cli.ts';
import { syntheticGuard } from '../helpers/guards/shared-guard.ts';
import { typed } from './terminal.ts';

/** The permissions of files and folders, in octal. */
const modes = (...paths: string[]): string[] =>
  paths.map((path) => (statSync(path).mode & 0o777).toString(8));

it('what is made for output is for its owner alone, whatever the umask', async () => {
  const before = process.umask(0);
  onTestFinished(() => void process.umask(before));
  const picture = readFileSync(new URL('../fixtures/images/palette.png', import.meta.url));
  const cwd = await folderWith({ 'a.csv': 'text\none\n', 'b.png': picture });
  const command = (args: readonly string[]) => typed(args, { runs: runCommands, context: { cwd } });
  const { address } = await syntheticGuard();
  const run = printedRun(await command(['enqueue', 'a.csv', '--out', 'deep/runs', '--guard', address]));
  expect(modes(join(cwd, 'deep'), join(cwd, 'deep/runs'), run, join(run, 'control'))).toEqual(
    Array(4).fill('700'),
  );
  expect(modes(join(run, 'run.json'), join(run, 'verdicts.csv'))).toEqual(['600', '600']);
  expect((await command(['normalize', 'b.png', '--out', 'deep/normal'])).status).toBe(0);
  expect(modes(join(cwd, 'deep/normal'), join(cwd, 'deep/normal/b.png.png'))).toEqual(['700', '600']);
});
