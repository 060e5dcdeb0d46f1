import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { checkGpu } from '../../src/cli/doctor-checks.ts';

const never = new AbortController().signal;

/** A PATH with an `nvidia-smi` that runs a script, or without one. */
async function pathWith(script: string | null): Promise<NodeJS.ProcessEnv> {
  const folder = await mkdtemp(join(tmpdir(), 'guardsweep-gpu-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  if (script !== null) await writeFile(join(folder, 'nvidia-smi'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return { PATH: folder };
}

it.each([
  ['echo 550.54.15', true, '1 NVIDIA GPU, driver 550.54.15'],
  ['echo 549.99.01', false, '1 NVIDIA GPU, driver 549.99.01'],
  ['printf "550.54\\033[2J"', false, 'nvidia-smi names no driver version'],
  ['echo failed to initialize NVML; exit 9', false, 'nvidia-smi does not run'],
  ['while :; do echo 550.54.15; done', false, 'nvidia-smi does not run'],
])('%s', async (script, ok, found) => {
  const check = await checkGpu(await pathWith(script), never);
  expect(check).toMatchObject({ what: 'gpu', ok, found });
  expect(check.todo === null).toBe(ok);
});

it('says that there is no GPU, which is no failure (C-105)', async () => {
  expect(await checkGpu(await pathWith(null), never)).toMatchObject({ ok: true, todo: null });
});
