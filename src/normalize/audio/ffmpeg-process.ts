import { spawn, type ChildProcess } from 'node:child_process';
import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { confined } from '../../confinement/confined.ts';
import { isNoRoom } from '../../confinement/no-room.ts';
import { processorTime } from '../../confinement/processor-time.ts';
import type { DecodeTime } from './decode-deadline.ts';

/** How a process ended. */
export type ProcessEnd =
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
  /** The operating system cannot start a process at the moment (EAGAIN, EMFILE, ENFILE, ENOMEM). */
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
export const DESCRIPTOR_PATH = process.platform === 'linux' ? '/proc/self/fd/3' : '/dev/fd/3';

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
