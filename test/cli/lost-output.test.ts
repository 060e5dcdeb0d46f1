import { spawn, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { folderWith } from '../helpers/cli.ts';
import { onlyRun } from '../helpers/run-directory.ts';

const MAIN = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));

it.runIf(process.platform === 'linux').each([
  ['stderr', 2, 'is dropped', 0],
  ['stdout', 1, 'is a result that was lost', 4],
])('what cannot be written to %s (%i) %s: the run comes to its end, with status %i', async (...given) => {
  const [, stream, , status] = given;
  const folder = await folderWith({ 'uploads/a.csv': 'id,text\n1,hello\n2,hello again\n' });
  const out = join(folder, 'runs');
  // A device that is always full.
  const full = openSync('/dev/full', 'w');
  onTestFinished(() => closeSync(full));
  const stdio: StdioOptions = ['ignore', 'ignore', 'ignore'];
  stdio[stream] = full;
  const args = [MAIN, 'enqueue', join(folder, 'uploads'), '--out', out, '--no-report'];
  const child = spawn(process.execPath, args, { stdio });
  await once(child, 'close');
  expect(child.exitCode).toBe(status);
  expect(await verifyRun(await onlyRun(out))).toMatchObject({ ok: true, verdicts: 2 });
});
