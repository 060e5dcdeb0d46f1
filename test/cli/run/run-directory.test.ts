import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { resolveRunDirectory } from '../../../src/cli/run/run-directory.ts';
import { temporaryFolder } from '../../helpers/cli.ts';

test('a link that is named is what it leads to', async () => {
  const folder = await temporaryFolder();
  const run = join(folder, 'runs', '20261121T020000Z-test-ab12');
  await mkdir(run, { recursive: true });
  await writeFile(join(run, 'run.json'), '{}');
  await symlink(run, join(folder, 'latest'));
  await symlink(run, join(folder, 'runs', 'newest'));
  for (const given of ['latest', './latest', 'newest', run])
    expect(resolveRunDirectory(given, folder)).toBe(run);
  await symlink('nowhere', join(folder, 'broken'));
  expect(resolveRunDirectory('broken', folder)).toBe(join(folder, 'broken'));
});
