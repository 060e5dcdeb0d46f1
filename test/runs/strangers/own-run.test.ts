import { chmod, mkdir } from 'node:fs/promises';
import type * as OperatingSystem from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { assertOwnRun } from '../../../src/runs/trust/own-run.ts';
import { runKeyFile } from '../../../src/runs/trust/run-key.ts';
import { temporaryFolder } from '../../helpers/cli.ts';

vi.mock('node:os', async (original) => ({
  ...(await original<typeof OperatingSystem>()),
  homedir: () => {
    throw Object.assign(new Error('no home'), { code: 'ERR_SYSTEM_ERROR' });
  },
}));

test('the command that takes rights away can be typed as it is shown', async () => {
  const run = join(await temporaryFolder(), 'run; touch x');
  await mkdir(run);
  await chmod(run, 0o777);
  await expect(assertOwnRun(run)).rejects.toThrow(`(chmod -R go-w '${run}')`);
  await expect(assertOwnRun(run)).rejects.toThrow('umask=077');
});

test('a user without a home has no key file', () => {
  expect(runKeyFile({})).toBeNull();
});
