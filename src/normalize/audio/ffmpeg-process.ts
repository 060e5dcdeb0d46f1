import { spawn, type ChildProcess } from 'node:child_process';
import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { confined } from '../process/confined.ts';
import { processorTime } from '../process/processor-time.ts';
import type { DecodeTime } from './decode-deadline.ts';

/** How a process ended. */
export type ProcessEnd =
  | {
      readonly how: 'exited';
      /** 0 when it did its work. */
      readonly code: number;
      /** Whether it wrote to its error output. What it wrote is never kept: it can quote the file. */
      readonly complained: boolean;
    }
  /** Ended by the operating system or somebody else, or by `kill`. */
  | { readonly how: 'signalled'; readonly signal: NodeJS.Signals }
  /** It is not on the PATH, or cannot be run on this machine. */
  | { readonly how: 'missing' }
  /** The operating system has no room for a process at the moment. */
  | { readonly how: 'no room' };

export interface FfmpegProcess {
  /** What it writes, to be read once. It waits for whoever reads; when it dies, this just ends. */
  readonly output: AsyncGenerator<Buffer, void, void>;
  /** Settles once the process is gone; never rejects. */
  readonly ended: Promise<ProcessEnd>;
  /** Processor time that it has used so far, in milliseconds; null when it is gone. */
  readonly processorMs: () => Promise<number | null>;
  /** Ends it at once; any number of times, also when it is gone. */
  readonly kill: () => void;
}

/** What it takes to have a clip's file read by ffmpeg or ffprobe. */
export interface Running {
  /** Starts one of them on the clip. */
  readonly start: (program: 'ffmpeg' | 'ffprobe', args: readonly string[]) => FfmpegProcess;
  readonly time: DecodeTime;
  readonly signal: AbortSignal;
}

/**
 * Under which name a child opens its file descriptor 3 anew. A name, not the descriptor's number in a URL: ffmpeg 5
 * can seek in nothing else, and an index at the end of a file is only found by seeking.
 */
export const DESCRIPTOR_PATH = process.platform === 'linux' ? '/proc/self/fd/3' : '/dev/fd/3';

/** Of the environment, only what finding a program and its libraries takes: secrets and FFREPORT stay here. */
const INHERITED = ['PATH', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'HOME'] as const;

/** What it can allocate; clips of every kind take less than a tenth. */
const MEMORY_BYTES = 1024 * 1024 * 1024;

const NO_ROOM: ReadonlySet<string | undefined> = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM']);

/** It has nothing to put in order, and a decoder in an endless loop would not hear anything gentler. */
const KILL = 'SIGKILL';

/**
 * Starts `ffmpeg` or `ffprobe` on an open file, which becomes its descriptor 3. Never throws: a program that cannot be
 * started has ended. It is confined, dies with this process, and runs in a session of its own, so that Ctrl-C in a
 * terminal does not reach it and cut a clip short that is still to be judged.
 */
export function startFfmpeg(
  program: 'ffmpeg' | 'ffprobe',
  args: readonly string[],
  { file, env }: { readonly file: FileHandle; readonly env: NodeJS.ProcessEnv },
): FfmpegProcess {
  let child: ChildProcess;
  try {
    // the clip may be a file that only we may read, and ffmpeg opens it anew
    const line = confined(program, args, { memoryBytes: MEMORY_BYTES, reads: null });
    child = spawn(line.command, line.args, {
      cwd: '/',
      detached: true,
      env: Object.fromEntries(INHERITED.map((name) => [name, env[name]])),
      stdio: ['ignore', 'pipe', 'pipe', file.fd],
    });
  } catch (error) {
    // Node throws some of the reasons, and announces the others
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

/** `output` is null where descriptors ran out: Node then makes a child without streams. */
async function* chunksOf(output: Readable | null): AsyncGenerator<Buffer, void, void> {
  try {
    if (output !== null) yield* output as AsyncIterable<Buffer>;
  } catch (error) {
    // closed because the process was killed, and how it ended says so
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}

function notStarted(error: unknown): ProcessEnd {
  const { code } = error as NodeJS.ErrnoException;
  return { how: NO_ROOM.has(code) ? 'no room' : 'missing' };
}

function whenEnded(child: ChildProcess): Promise<ProcessEnd> {
  let complained = false;
  child.stderr?.on('data', () => {
    complained = true;
  });
  child.stderr?.on('error', () => {}); // a broken pipe of a killed process
  return new Promise((resolve) => {
    child.on('error', (error) => {
      if (child.pid === undefined) resolve(notStarted(error)); // else about a signal that came too late
    });
    // `close` waits for the error output to have been read; after a signal, a grandchild may hold the pipes for ever
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

/** The process and whatever it started, which is nothing for ffmpeg itself, but not for a script in its place. */
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, KILL);
  } catch {
    child.kill(KILL); // no such group
  }
}
