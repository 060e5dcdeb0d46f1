import { execFile } from 'node:child_process';
import { mkdtemp, rmdir, statfs } from 'node:fs/promises';
import { availableParallelism, freemem } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { fleetKeyOf } from '../../config/keys/fleet-key.ts';
import type { RedisAddress } from '../../config/values/redis-url.ts';
import { Failure } from '../../domain/failure.ts';
import { plural } from '../../domain/text/plural.ts';
import { INSTALL_FFMPEG } from '../../normalize/ffmpeg-process.ts';

/** A requirement of a run, and whether it is met. */
export interface Check {
  readonly what: string;
  readonly ok: boolean;
  /** What was found. */
  readonly found: string;
  /** What to do about it; null when the requirement is met. */
  readonly todo: string | null;
}

const MEBIBYTE = 1024 * 1024;
const MIN_MEMORY_BYTES = 512 * MEBIBYTE;
/** Room for the log and the final files of some hundred thousand items. */
const MIN_DISK_BYTES = 1024 * MEBIBYTE;

const mebibytes = (bytes: number): string => `${Math.floor(bytes / MEBIBYTE).toLocaleString('en-US')} MiB`;

/** Node 20.19 or newer is required. */
export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const ok = major > 20 || (major === 20 && minor >= 19);
  return { what: 'node', ok, found: version, todo: ok ? null : 'install Node 20.19 or newer' };
}

/** Memory that this process can still allocate: what the operating system has available, or its container's limit leaves. */
export function checkMemory(availableBytes = process.availableMemory?.() ?? freemem()): Check {
  const ok = availableBytes >= MIN_MEMORY_BYTES;
  return {
    what: 'memory',
    ok,
    found: `${mebibytes(availableBytes)} available, ${availableParallelism()} ${plural(availableParallelism(), 'core')}`,
    todo: ok ? null : `free at least ${mebibytes(MIN_MEMORY_BYTES)}`,
  };
}

const VERSION_WITHIN_MS = 10_000;

/** Whether `ffmpeg` and `ffprobe`, which decode audio, are on the PATH of `env` and run. Rejects only on abort. */
export async function checkFfmpeg(env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<Check> {
  const versions: string[] = [];
  for (const program of ['ffmpeg', 'ffprobe']) {
    try {
      const options = { env, signal, timeout: VERSION_WITHIN_MS, killSignal: 'SIGKILL' } as const;
      const { stdout } = await promisify(execFile)(program, ['-version'], options);
      versions.push(/ version (\S+)/.exec(stdout)?.[1] ?? 'of an unknown version');
    } catch {
      signal.throwIfAborted();
      const todo = `install it for audio (${INSTALL_FFMPEG}); texts and images are judged without it`;
      return { what: 'ffmpeg', ok: false, found: `${program} does not run`, todo };
    }
  }
  return { what: 'ffmpeg', ok: true, found: [...new Set(versions)].join(', ffprobe '), todo: null };
}

async function nearestFolder(folder: string): Promise<{ folder: string; freeBytes: number }> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return { folder, freeBytes: bavail * bsize };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    return nearestFolder(dirname(folder));
  }
}

/** Whether a run directory can be created in an absolute folder, which need not exist yet. */
export async function checkOutput(folder: string): Promise<Check> {
  const what = `output ${folder}`;
  try {
    const nearest = await nearestFolder(folder);
    await rmdir(await mkdtemp(join(nearest.folder, '.guardsweep-')));
    const ok = nearest.freeBytes >= MIN_DISK_BYTES;
    return {
      what,
      ok,
      found: `writable, ${mebibytes(nearest.freeBytes)} free`,
      todo: ok ? null : `free at least ${mebibytes(MIN_DISK_BYTES)}, or name another folder with --out`,
    };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'error';
    return {
      what,
      ok: false,
      found: `not writable (${code})`,
      todo: 'name a folder you may write to with --out',
    };
  }
}

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

/** Random hex digits have more; a word, or one that is repeated, has not. */
const MIN_DIFFERENT = 8;
const WHAT = 'fleet key';
const REMEDY =
  'set GUARDSWEEP_FLEET_KEY, the same for all processes of the fleet; openssl rand -hex 32 makes one';

/** Whether a fleet over this Redis has the key that it needs, and one that is hard to guess. Never quotes it. */
export async function checkFleetKey(redis: RedisAddress, env: NodeJS.ProcessEnv): Promise<Check> {
  try {
    const key = await fleetKeyOf(redis, env);
    if (key === null) {
      const found = 'none; Redis is on this machine, and anyone who can write to it can forge outcomes';
      return { what: WHAT, ok: true, found, todo: null };
    }
    if (new Set(key.export()).size < MIN_DIFFERENT) {
      return {
        what: WHAT,
        ok: false,
        found: 'set, and easy to guess: few different characters',
        todo: REMEDY,
      };
    }
    return { what: WHAT, ok: true, found: 'set', todo: null };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { what: WHAT, ok: false, found: error.message, todo: REMEDY };
  }
}
