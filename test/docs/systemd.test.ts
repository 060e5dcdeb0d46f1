import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/cli.ts';
import { debianProgram } from '../helpers/setup/debian-program.ts';

const UNITS = fileURLToPath(new URL('../../docs/operations/systemd/', import.meta.url));

it.each(readdirSync(UNITS))('systemd finds nothing wrong with %s', async (name) => {
  const analyze = debianProgram(['systemd-analyze'], { versionFlag: '--version', package: 'systemd' });
  // The program of a unit has to exist, and a timer needs its service.
  const folder = await temporaryFolder();
  for (const other of readdirSync(UNITS)) {
    const text = readFileSync(join(UNITS, other), 'utf8');
    writeFileSync(join(folder, other), text.replace('/usr/bin/node', process.execPath));
  }
  const { status, stdout, stderr } = spawnSync(analyze, ['verify', join(folder, name)], { encoding: 'utf8' });
  expect({ status, said: stdout + stderr }).toEqual({ status: 0, said: '' });
});
