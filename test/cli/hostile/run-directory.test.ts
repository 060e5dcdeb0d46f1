import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommands } from '../../../src/cli/run/run-commands.ts';
import { resumeCommand } from '../../../src/cli/run/resume-command.ts';
import { folderWith, temporaryFolder } from '../../helpers/cli.ts';
import { closeAfterEach, restGuard } from '../../helpers/guards/guard-pool.ts';
import { onlyRun } from '../../helpers/run-directory.ts';
import { execFileSync } from 'node:child_process';
import { typed } from '../terminal.ts';
import { expectNothingForged, HOSTILE } from './output.ts';

closeAfterEach();

/** A finished run, whose record somebody then wrote names into. */
async function forgedRun(change: (record: Record<string, unknown>) => object): Promise<string> {
  const guard = await restGuard();
  const folder = await folderWith({ 'a.csv': 'text\nhello\n' });
  const out = join(folder, 'runs');
  await typed(['enqueue', join(folder, 'a.csv'), '--out', out, '--guard', guard.address], {
    runs: runCommands,
  });
  const dir = await onlyRun(out);
  const path = join(dir, 'run.json');
  const record = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
  await writeFile(path, JSON.stringify(change(record)));
  return dir;
}

test('names in a forged run directory are shown on one line by every command', async () => {
  const skipped = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`${HOSTILE}${at}`, at]));
  const dir = await forgedRun((record) => ({ ...record, run: HOSTILE, created_at: HOSTILE, skipped }));
  const renamed = join(dir, '..', `20261121T020000Z-${HOSTILE}`);
  await rename(dir, renamed);
  for (const command of [
    ['verify', renamed],
    ['status', renamed],
    ['status', '--out', join(renamed, '..')],
    ['resume', renamed],
    ['retry', renamed],
    ['pause', renamed],
    ['cancel', renamed],
  ]) {
    const { stdout, stderr } = await typed(command, { runs: runCommands });
    expect(stdout + stderr).not.toBe('');
    expectNothingForged(stdout, stderr);
    expect((stdout + stderr).length).toBeLessThan(10_000);
  }
});

test('the command that resumes a run can be typed as it is shown', async () => {
  const folder = join(await temporaryFolder(), `it's ${HOSTILE}\u009b\u{e0041}\\x`);
  await mkdir(folder);
  const shown = resumeCommand(folder, { cwd: import.meta.dirname, env: {} });
  expect(shown).toMatch(/^[\x20-\x7e]+$/);
  const word = shown.slice('guardsweep resume '.length);
  expect(execFileSync('bash', ['-c', `printf %s ${word}`], { encoding: 'utf8' })).toBe(folder);
});
