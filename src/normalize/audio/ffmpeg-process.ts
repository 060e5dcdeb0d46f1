import { type ChildProcess, spawn } from 'node:child_process';
import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { confined, CRASHES } from '../../confinement/confined.ts';
import { isNoRoom } from '../../confinement/wrappers.ts';
import { processorTime } from '../../confinement/processor-time.ts';
import { TimeLimit } from '../../confinement/time-limit.ts';
import type { ItemError } from '../../domain/item-error.ts';
import { type Container, CONTAINERS } from './container.ts';
import { REFUSALS } from './refusals.ts';

/** How a process ended. */
type ProcessEnd =
  | {
      readonly how: 'exited';
      /** 0 on success. */
      readonly code: number;
      /** Whether it wrote to stderr. The text is never kept: it can quote the file. */
      readonly complained: boolean;
    }
  /** Ended by a signal: of the operating system, of another process, or of `kill`. */
  | { readonly how: 'signalled'; readonly signal: NodeJS.Signals }
  /** It is not in PATH, or cannot be executed. */
  | { readonly how: 'missing' }
  /** The operating system cannot start a process at the moment. */
  | { readonly how: 'no room' };

export interface FfmpegProcess {
  /** Its stdout, to be read once. The process blocks while nothing is read. Ends without an error when it dies. */
  readonly output: AsyncGenerator<Buffer, void, void>;
  /** Settles once the process is gone; never rejects. */
  readonly ended: Promise<ProcessEnd>;
  /** Processor time used so far, in milliseconds; null if it is gone. */
  readonly processorMs: () => Promise<number | null>;
  /** Sends SIGKILL. May be called more than once, also when it is gone. */
  readonly kill: () => void;
}

/** Runs ffmpeg and ffprobe on the file of one clip. */
export interface Running {
  /** Starts one of them. */
  readonly start: (program: 'ffmpeg' | 'ffprobe', args: readonly string[]) => FfmpegProcess;
  readonly time: DecodeTime;
  readonly signal: AbortSignal;
}

/**
 * Path by which a child opens its file descriptor 3 anew. A path, not an `fd:` URL: ffmpeg 5 cannot seek in that, and it
 * finds an index at the end of a file only by seeking.
 */
const DESCRIPTOR_PATH = process.platform === 'linux' ? '/proc/self/fd/3' : '/dev/fd/3';

/** The only variables that are passed on: enough to find a program and its libraries, but no secrets and no FFREPORT. */
const INHERITED = ['PATH', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'HOME'] as const;

/** Memory limit; clips of every kind take less than a tenth of it. */
const MAX_MEMORY_BYTES = 1024 * 1024 * 1024;

/** It has nothing to clean up, and a decoder in an endless loop would not react to SIGTERM. */
const KILL = 'SIGKILL';

/**
 * Starts `ffmpeg` or `ffprobe` on an open file, which becomes its descriptor 3. Never throws: a program that cannot be
 * started counts as ended. It is confined, dies with this process, and runs in its own session, so that Ctrl-C in a
 * terminal does not cut short a clip that is still to be judged.
 */
export function startFfmpeg(
  program: 'ffmpeg' | 'ffprobe',
  args: readonly string[],
  { file, env }: { readonly file: FileHandle; readonly env: NodeJS.ProcessEnv },
): FfmpegProcess {
  let child: ChildProcess;
  try {
    // ffmpeg opens the clip anew, and perhaps only the current user may read it
    const line = confined(program, args, { memoryBytes: MAX_MEMORY_BYTES, reads: null });
    child = spawn(line.command, line.args, {
      cwd: '/',
      detached: true,
      env: Object.fromEntries(INHERITED.map((name) => [name, env[name]])),
      stdio: ['ignore', 'pipe', 'pipe', file.fd],
    });
  } catch (error) {
    // Node throws some of these errors, and emits the others as events
    return {
      output: chunksOf(null),
      ended: Promise.resolve(notStarted(error)),
      processorMs: async () => null,
      kill: () => {},
    };
  }
  const { pid } = child;
  return {
    output: chunksOf(child.stdout),
    ended: whenEnded(child),
    processorMs: async () => (pid === undefined ? null : processorTime(pid)),
    kill: () => killGroup(child),
  };
}

/** `output` is null if descriptors ran out: Node then returns a child without streams. */
async function* chunksOf(output: Readable | null): AsyncGenerator<Buffer, void, void> {
  try {
    if (output !== null) yield* output as AsyncIterable<Buffer>;
  } catch (error) {
    // closed because the process was killed, which `ended` reports
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}

function notStarted(error: unknown): ProcessEnd {
  return { how: isNoRoom(error) ? 'no room' : 'missing' };
}

function whenEnded(child: ChildProcess): Promise<ProcessEnd> {
  let complained = false;
  child.stderr?.on('data', () => {
    complained = true;
  });
  child.stderr?.on('error', () => {}); // a broken pipe of a killed process
  return new Promise((resolve) => {
    child.on('error', (error) => {
      if (child.pid === undefined) resolve(notStarted(error)); // else a signal was sent too late
    });
    // `close` comes after stderr was read; after a signal, a grandchild may hold the pipes open indefinitely
    child.on('exit', (_code, signal) => {
      if (signal === null) return;
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve({ how: 'signalled', signal });
    });
    child.on('close', (code) => {
      if (code !== null) resolve({ how: 'exited', code, complained });
    });
  });
}

/** Kills the process group: ffmpeg itself starts no processes, but a wrapper script in its place does. */
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, KILL);
  } catch {
    child.kill(KILL); // no such group
  }
}

/** Exit status of ffmpeg after it was stopped by a signal. */
const STOPPED_BY_SIGNAL = 255;

/** Exit statuses of a shell or the loader for a program that cannot be executed, because a library is missing, say. */
const CANNOT_RUN: ReadonlySet<number> = new Set([126, 127]);

/** The refusal that follows from how ffmpeg or ffprobe ended; null on success. */
function refusalByEnd(end: ProcessEnd): ItemError | null {
  switch (end.how) {
    case 'missing':
      return REFUSALS.ffmpegMissing;
    case 'no room':
      return REFUSALS.decoderNotStarted;
    case 'signalled':
      return CRASHES.has(end.signal) ? REFUSALS.crashing : REFUSALS.decoderKilled;
    case 'exited':
      if (end.code === 0) return null;
      if (CANNOT_RUN.has(end.code)) return REFUSALS.ffmpegMissing;
      return end.code === STOPPED_BY_SIGNAL ? REFUSALS.decoderKilled : REFUSALS.corrupt;
  }
}

/** Largest single allocation of ffmpeg: a header can ask for any amount. */
const MAX_BLOCK_BYTES = 256 * 1024 * 1024;

/**
 * Arguments with which ffmpeg and ffprobe open descriptor 3. They name the recognised container, so that ffmpeg does not
 * probe: its guesses change between versions and include playlists, which would make it read other files. The whitelists
 * apply to whatever a container refers to.
 */
export function inputArguments(container: Container): string[] {
  return [
    ...['-hide_banner', '-loglevel', 'error', '-max_alloc', String(MAX_BLOCK_BYTES)],
    ...['-protocol_whitelist', 'file', '-format_whitelist', CONTAINERS.join(',')],
    ...['-f', container, '-i', `file:${DESCRIPTOR_PATH}`],
  ];
}

/** Time limit of a decoder: a base, plus a share of what it has decoded so far. */
export interface DecodeTime {
  /** Processor time. */
  readonly baseMs: number;
  readonly perAudioSecondMs: number;
  /** Wall-clock limit as a multiple of the limit of processor time. */
  readonly wallFactor: number;
}

/** A core decodes a minute of sound in 0.1 s or less. A file that takes a hundred times as long was made to. */
export const DECODE_TIME: DecodeTime = { baseMs: 30_000, perAudioSecondMs: 200, wallFactor: 20 };

/** A program at work on a clip. */
interface Working {
  readonly output: FfmpegProcess['output'];
  /**
   * Waits for its next result, with the time limit for a clip decoded up to `decodedSeconds`. Time in which it waits for
   * this process does not count: a clip must not fail because the guard is away.
   */
  readonly wait: <T>(next: Promise<T>, decodedSeconds: number) => Promise<T>;
  /** Waits for its end; the refusal that follows from it, or null on success, and whether it complained nevertheless. */
  readonly end: (
    decodedSeconds: number,
  ) => Promise<{ readonly refusal: ItemError | null; readonly complained: boolean }>;
}

/**
 * Starts a program, and kills it when `work` is over, when it exceeds its time limit, and on abort. Throws what `work` throws
 * and the reason of an abort. No process is left running in any case.
 */
export async function withFfmpeg<T>(
  { start, time, signal }: Running,
  program: 'ffmpeg' | 'ffprobe',
  args: readonly string[],
  work: (working: Working) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const child = start(program, args);
  const limit = new TimeLimit(child.processorMs, child.kill);
  const wait = async <R>(next: Promise<R>, decodedSeconds: number): Promise<R> => {
    const processorMs = time.baseMs + time.perAudioSecondMs * decodedSeconds;
    limit.resume({ processorMs, wallMs: processorMs * time.wallFactor });
    try {
      return await next;
    } finally {
      limit.pause();
    }
  };
  const end: Working['end'] = async (decodedSeconds) => {
    const ended = await wait(child.ended, decodedSeconds);
    signal.throwIfAborted();
    const excess = limit.excess && (limit.excess === 'processor' ? REFUSALS.tooCostly : REFUSALS.tooSlow);
    return {
      refusal: excess ?? refusalByEnd(ended),
      complained: ended.how === 'exited' && ended.complained,
    };
  };
  signal.addEventListener('abort', child.kill);
  try {
    return await work({ output: child.output, wait, end });
  } finally {
    signal.removeEventListener('abort', child.kill);
    child.kill();
    await child.output.return();
    await child.ended;
  }
}
