import { execFile } from 'node:child_process';
import { mkdtemp, rmdir, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { readFleetKey } from '../config/keys/fleet-key.ts';
import type { RedisAddress } from '../config/values/redis-url.ts';
import { Failure } from '../domain/failure.ts';
import { plural } from '../domain/text/plural.ts';
import { pathExists } from '../files/folders.ts';
import { readGuards } from '../guard-setup/read-guards.ts';
import { INSTALL_FFMPEG } from '../normalize/ffmpeg-process.ts';
import { checkServer } from '../queue/redis/check-server.ts';

/** A requirement of a run, and whether it is met. */
export interface Check {
  readonly what: string;
  readonly ok: boolean;
  readonly found: string;
  /** How to meet the requirement; null if it is met. */
  readonly todo: string | null;
}

const MEBIBYTE = 1024 * 1024;
/** Space for the log and the final files of some hundred thousand items. */
const MIN_DISK_BYTES = 1024 * MEBIBYTE;
/** Timeout for each program and server, in milliseconds. */
const ANSWERS_WITHIN_MS = 10_000;

const errorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'error';

/** Checks for Node 20.19 or newer. */
export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const ok = major > 20 || (major === 20 && minor >= 19);
  return { what: 'node', ok, found: version, todo: ok ? null : 'install Node 20.19 or newer' };
}

/** Checks whether a run directory can be created in an absolute folder, which need not exist yet. */
export async function checkOutput(folder: string): Promise<Check> {
  const what = `output ${folder}`;
  try {
    let existing = folder;
    while (!(await pathExists(existing))) existing = dirname(existing);
    await rmdir(await mkdtemp(join(existing, '.guardsweep-')));
    const { bavail, bsize } = await statfs(existing);
    const freeBytes = bavail * bsize;
    const ok = freeBytes >= MIN_DISK_BYTES;
    const found = `writable, ${Math.floor(freeBytes / MEBIBYTE).toLocaleString('en-US')} MiB free`;
    return {
      what,
      ok,
      found,
      todo: ok ? null : 'free at least 1,024 MiB, or name another folder with --out',
    };
  } catch (error) {
    const todo = 'name a folder you may write to with --out';
    return { what, ok: false, found: `not writable (${errorCode(error)})`, todo };
  }
}

/** Returns the output of a program on the PATH of `env`. Rejects on abort, after 10 s, and with the system's error. */
async function outputOf(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<string> {
  const options = { env, signal, timeout: ANSWERS_WITHIN_MS, killSignal: 'SIGKILL' } as const;
  return (await promisify(execFile)(program, args, options)).stdout;
}

/**
 * Checks whether `ffmpeg` and `ffprobe`, which decode audio, are on the PATH of `env` and run. Rejects only on abort.
 */
export async function checkFfmpeg(env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<Check> {
  const versions = new Set<string>();
  for (const program of ['ffmpeg', 'ffprobe']) {
    try {
      const output = await outputOf(program, ['-version'], env, signal);
      versions.add(/ version (\S+)/.exec(output)?.[1] ?? 'unknown version');
    } catch {
      signal.throwIfAborted();
      const todo = `install it for audio (${INSTALL_FFMPEG}); texts and images are judged without it`;
      return { what: 'ffmpeg', ok: false, found: `${program} does not run`, todo };
    }
  }
  return { what: 'ffmpeg', ok: true, found: [...versions].join(', ffprobe '), todo: null };
}

/** Oldest driver branch that the self-hosted guard runs on. */
const MIN_DRIVER = 550;
const DRIVER_QUERY = ['--query-gpu=driver_version', '--format=csv,noheader'];

/**
 * Checks whether this machine's NVIDIA driver can serve a guard (`nvidia-smi` on the PATH of `env`). A machine without
 * a GPU passes, since its guard runs elsewhere. Rejects only on abort.
 */
export async function checkGpu(env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<Check> {
  const what = 'gpu';
  const broken = (found: string): Check => ({ what, ok: false, found, todo: 'check the NVIDIA driver' });
  let output: string;
  try {
    output = await outputOf('nvidia-smi', DRIVER_QUERY, env, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (errorCode(error) !== 'ENOENT') return broken('nvidia-smi does not run');
    return { what, ok: true, found: 'no NVIDIA driver: use a guard on another machine', todo: null };
  }
  const versions = output.trim().split('\n');
  if (!versions.every((version) => /^\d{1,6}(\.\d{1,6}){1,2}$/.test(version))) {
    return broken('nvidia-smi names no driver version');
  }
  const ok = versions.every((version) => parseInt(version, 10) >= MIN_DRIVER);
  const found = `${versions.length} NVIDIA ${plural(versions.length, 'GPU')}, driver ${[...new Set(versions)].join(', ')}`;
  return { what, ok, found, todo: ok ? null : `install driver ${MIN_DRIVER} or newer to serve a guard here` };
}

/**
 * Checks whether a fleet's Redis answers and meets its requirements, and the fleet has a key. Rejects only on abort.
 */
export async function checkRedis(
  address: RedisAddress,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Check> {
  const what = `Redis at ${address.shown} (${address.place})`;
  try {
    const key = readFleetKey(address, env);
    await checkServer(address, signal, ANSWERS_WITHIN_MS);
    const sealed = key === null ? 'no fleet key: local processes can forge outcomes' : 'fleet key set';
    return { what, ok: true, found: `meets the requirements of a fleet; ${sealed}`, todo: null };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Failure)) throw error;
    return { what, ok: false, found: error.message, todo: 'docs/fleet.md lists the requirements' };
  }
}

/** Checks whether a guard answers, and which model it runs. `options` apply to all guards. Rejects only on abort. */
export async function checkGuard(
  url: string,
  options: Omit<Parameters<typeof readGuards>[1], 'timeoutMs'>,
): Promise<Check> {
  const what = `guard ${url}`;
  try {
    const [reading] = await readGuards([url], { ...options, timeoutMs: ANSWERS_WITHIN_MS });
    const found = reading!.fingerprint?.id ?? 'judges, without a fingerprint: REST does not name the model';
    return { what, ok: true, found: `ready, ${found}`, todo: null };
  } catch (error) {
    options.signal?.throwIfAborted();
    const found = error instanceof Failure ? error.message.replace(`${what}: `, '') : 'does not answer';
    return { what, ok: false, found, todo: 'start it, or correct --guard or GUARD_URL' };
  }
}
