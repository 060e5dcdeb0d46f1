import { mkdir, readdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { typed } from '../../cli/terminal.ts';
import { folderWith } from '../../helpers/cli.ts';
import { createdRun } from '../small-run.ts';

/** A folder for runs with directories that a killed process left there, and others. */
async function abandoned(): Promise<{ folder: string; out: string }> {
  const folder = await folderWith({ 'uploads/a.txt': 'hello' });
  const out = join(folder, 'runs');
  const longAgo = new Date(Date.now() - 25 * 3_600_000);
  const age = (path: string): Promise<void> => utimes(path, longAgo, longAgo);
  for (const name of ['.20261121T020000Z-uploads-ab12-01234567', '.stdin-01234567']) {
    for (const written of ['long ago', 'just now']) {
      const dir = join(out, written === 'long ago' ? name : name.replace(/.$/, 'f'));
      await mkdir(join(dir, 'log'), { recursive: true });
      const file = join(dir, 'stdin');
      await writeFile(file, 'a row');
      for (const path of [join(dir, 'log'), dir]) await age(path);
      if (written === 'long ago') await age(file);
    }
  }
  for (const name of ['.store', '.schedules', '.stdin-of-mine']) {
    await mkdir(join(out, name));
    await age(join(out, name));
  }
  await mkdir(join(folder, 'elsewhere'));
  await age(join(folder, 'elsewhere'));
  await symlink(join(folder, 'elsewhere'), join(out, '.stdin-89abcdef'));
  return { folder, out };
}

const KEPT = [
  ...['.20261121T020000Z-uploads-ab12-0123456f', '.stdin-0123456f'],
  ...['.schedules', '.stdin-89abcdef', '.stdin-of-mine', '.store'],
];

it.each<readonly [string, (folder: string, out: string) => Promise<unknown>]>([
  ['the next run', (folder) => createdRun(folder)],
  ['gc', (_, out) => typed(['gc', '--out', out])],
  ['a purge', (_, out) => typed(['runs', 'purge', '--older-than', '30d', '--out', out])],
])('%s removes directories that never became runs, unless somebody writes in them', async (_, act) => {
  const { folder, out } = await abandoned();
  await act(folder, out);
  expect((await readdir(out)).filter((name) => name.startsWith('.')).sort()).toEqual([...KEPT].sort());
});
