import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { plural } from '../../domain/text/plural.ts';
import type { Check } from './machine-checks.ts';

/** The oldest driver branch that the self-hosted guard runs on. */
const MIN_DRIVER = 550;

const ANSWERS_WITHIN_MS = 10_000;
/** A line per GPU. */
const MAX_OUTPUT_BYTES = 64 * 1024;
const QUERY = ['--query-gpu=driver_version', '--format=csv,noheader'];

/**
 * Whether the NVIDIA driver of this machine is recent enough for a guard of one's own (`nvidia-smi` on the PATH of
 * `env`). A machine without a GPU is no failure: its guard may be elsewhere. Rejects only on abort.
 */
export async function checkGpu(env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<Check> {
  const what = 'gpu';
  let stdout: string;
  try {
    ({ stdout } = await promisify(execFile)('nvidia-smi', QUERY, {
      env,
      signal,
      timeout: ANSWERS_WITHIN_MS,
      killSignal: 'SIGKILL',
      maxBuffer: MAX_OUTPUT_BYTES,
    }));
  } catch (error) {
    signal.throwIfAborted();
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      const found = 'no NVIDIA driver: this machine cannot serve a guard of its own, only use others';
      return { what, ok: true, found, todo: null };
    }
    return { what, ok: false, found: 'nvidia-smi does not run', todo: 'check the NVIDIA driver' };
  }
  const versions = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim());
  // One driver serves all GPUs, but reading them all keeps a broken one from hiding.
  const drivers = versions.map((version) =>
    Number(/^(\d{1,6})\.\d{1,6}(\.\d{1,6})?$/.exec(version)?.[1] ?? NaN),
  );
  if (drivers.some((driver) => Number.isNaN(driver))) {
    return { what, ok: false, found: 'nvidia-smi names no driver version', todo: 'check the NVIDIA driver' };
  }
  const count = `${versions.length} NVIDIA ${plural(versions.length, 'GPU')}`;
  const ok = drivers.every((driver) => driver >= MIN_DRIVER);
  return {
    what,
    ok,
    found: `${count}, driver ${[...new Set(versions)].join(', ')}`,
    todo: ok ? null : `install driver ${MIN_DRIVER} or newer to serve a guard here`,
  };
}
