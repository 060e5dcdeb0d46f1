import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkGpu } from '../../src/cli/doctor-checks.ts';
import { temporaryFolder } from '../helpers/cli.ts';
import { syntheticGuard } from '../helpers/guards/shared-guard.ts';
import { output, typed } from './terminal.ts';

/** Nothing listens there: port 1 is reserved and needs privileges. */
const NOBODY = 'grpc://127.0.0.1:1';

it('fingerprint prints the id and the artifacts', async () => {
  const { status, stdout } = await typed(['fingerprint', '--guard', (await syntheticGuard()).address]);
  expect(status).toBe(0);
  expect(stdout).toMatch(/^grpc:\/\/127\.0\.0\.1:\d+ {2}model guard version \d+\nsha256:[0-9a-f]{64}\n/);
  expect(stdout).toMatch(/\n {2}[0-9a-f]{64} {2}synthetic-/);
});

it('guard serves until interrupted, and says where', async () => {
  const interrupt = new AbortController();
  const stdout = output();
  const interrupts = { drain: interrupt.signal, stop: new AbortController().signal };
  const ports = ['--grpc-port', '0', '--http-port', '0', '--metrics-port', '0'];
  const ended = typed(['guard', '--model', 'synthetic', ...ports], { context: { stdout, interrupts } });
  await stdout.begun;
  const address = /grpc:\/\/\S+/.exec(stdout.text())![0];
  expect((await typed(['fingerprint', '--guard', address])).status).toBe(0);
  interrupt.abort();
  expect((await ended).status).toBe(0);
});

describe('doctor', () => {
  it('says ok for everything that is there, and leaves nothing behind', async () => {
    const out = await temporaryFolder();
    const { address } = await syntheticGuard();
    const { status, stdout, stderr } = await typed(['doctor', '--guard', address, '--out', join(out, 'a/b')]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    expect(lines.map((line) => line.slice(0, 12))).toEqual(
      ['nod', 'out', 'ffm', 'gpu', 'gua'].map((what) => `ok       ${what}`),
    );
    expect(await readdir(out)).toEqual([]);
  });

  it('says what is missing and what to do, and ends with 4', async () => {
    const out = await temporaryFolder();
    await writeFile(join(out, 'file'), '');
    const doctor = ['doctor', '--json', '--guard', NOBODY, '--out', join(out, 'file')];
    const { status, stdout, stderr } = await typed(doctor, { context: { env: { PATH: out } } });
    expect({ status, stderr }).toEqual({ status: 4, stderr: 'guardsweep: 3 of 5 checks failed\n' });
    expect(JSON.parse(stdout)).toMatchObject([
      { what: 'node', ok: true },
      { ok: false, found: 'not writable (ENOTDIR)', todo: 'name a folder you may write to with --out' },
      { what: 'ffmpeg', ok: false, found: 'ffmpeg does not run' },
      { what: 'gpu', ok: true },
      { what: `guard ${NOBODY}`, ok: false, todo: 'start it, or correct --guard or GUARD_URL' },
    ]);
  });
});

const never = new AbortController().signal;

/** A PATH with an `nvidia-smi` that runs a script, or without one. */
async function pathWith(script: string | null): Promise<NodeJS.ProcessEnv> {
  const folder = await temporaryFolder();
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
