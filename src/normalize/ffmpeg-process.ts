import { type ChildProcess, spawn } from 'node:child_process';
import type { FileHandle } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { confined, CRASHES } from '../confinement/confined.ts';
import { isNoRoom } from '../confinement/wrappers.ts';
import { processorTime } from '../confinement/processor-time.ts';
import { TimeLimit } from '../confinement/time-limit.ts';
import { errorWithReason, itemError, type ItemError } from '../domain/item-error.ts';

/** How to install ffmpeg and ffprobe. */
export const INSTALL_FFMPEG = 'Debian and Ubuntu: apt-get install ffmpeg; macOS: brew install ffmpeg';

/**
 * Errors of files that ffmpeg did not decode. Errors caused by the machine are retryable; errors caused by the file are
 * not.
 */
export const DECODING_ERRORS = {
  corrupt: itemError('CORRUPT_MEDIA', 'ffmpeg cannot decode the file'),
  crashing: itemError('CORRUPT_MEDIA', 'the file crashes ffmpeg'),
  tooCostly: itemError('MEDIA_TOO_LARGE', 'decoding the file takes too much processor time'),
  tooSlow: itemError('TIMEOUT', 'decoding the file took too long'),
  killed: itemError('INTERNAL', 'ffmpeg was killed before the file was decoded'),
  notStarted: itemError(
    'INTERNAL',
    'ffmpeg could not be started: the system is out of memory, processes or file handles',
  ),
  ffmpegMissing: errorWithReason(
    'ffmpeg_missing',
    `ffmpeg is not installed on the machine that processed the file (${INSTALL_FFMPEG})`,
  ),
} as const satisfies Record<string, ItemError>;

/** Errors after which decoding is tried once more: ffmpeg died, for whatever reason. */
export const FFMPEG_DEATHS: ReadonlySet<ItemError> = new Set([
  DECODING_ERRORS.crashing,
  DECODING_ERRORS.killed,
]);

/** How a process ended. */
type ProcessEnd =
  | {
      readonly how: 'exited';
      /** 0 on success. */
      readonly code: number;
      /** Whether it wrote to stderr. The text is never kept: it can quote the file. */
      readonly complained: boolean;
    }
  /** Ended by a signal: from the operating system, another process, or `kill`. */
  | { readonly how: 'signalled'; readonly signal: NodeJS.Signals }
  /** It is not in PATH, or cannot be executed. */
  | { readonly how: 'missing' }
  /** The operating system currently cannot start a process. */
  | { readonly how: 'no room' };

export interface FfmpegProcess {
  /**
   * Its stdout, which can be read once. The process blocks while nothing is read. Ends without an error when it dies.
   */
  readonly output: AsyncGenerator<Buffer, void, void>;
  /** Settles once the process is gone; never rejects. */
  readonly ended: Promise<ProcessEnd>;
  /** Processor time used so far, in milliseconds; null if it is gone. */
  readonly processorMs: () => Promise<number | null>;
  /** Sends SIGKILL. May be called more than once, even after the process is gone. */
  readonly kill: () => void;
}

/** How to run ffmpeg and ffprobe on one file. */
export interface Running {
  readonly start: (program: Program, args: readonly string[]) => FfmpegProcess;
  readonly time: DecodeTime;
  readonly signal: AbortSignal;
}

/**
 * Path with which a child reopens its file descriptor 3. A path, not an `fd:` URL: ffmpeg 5 cannot seek in that, and it
 * finds an index at the end of a file only by seeking.
 */
const DESCRIPTOR_PATH = process.platform === 'linux' ? '/proc/self/fd/3' : '/dev/fd/3';

/**
 * The only variables that are inherited: enough to find a program and its libraries, but no secrets and no FFREPORT.
 */
const INHERITED = ['PATH', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'HOME'] as const;

/** Memory limit. Audio takes less than a tenth of it; bitmaps are limited by their size. */
const MAX_MEMORY_BYTES = 1024 * 1024 * 1024;

/** It has nothing to clean up, and a decoder in an endless loop would not react to SIGTERM. */
const KILL = 'SIGKILL';

/** The ffmpeg processes of one normalizer. */
export class FfmpegProcesses {
  readonly #running = new Set<FfmpegProcess>();
  readonly #closing = new AbortController();

  /** Prepares to run ffmpeg on a file. Decoding is aborted by `signal` and by `close`. */
  prepare(
    input: Input,
    {
      env,
      time,
      signal,
    }: { readonly env: NodeJS.ProcessEnv; readonly time: DecodeTime; readonly signal: AbortSignal },
  ): Running {
    const start: Running['start'] = (program, args) => {
      const started = startFfmpeg(program, args, input, env);
      this.#running.add(started);
      void started.ended.then(() => this.#running.delete(started));
      return started;
    };
    return { start, time, signal: AbortSignal.any([signal, this.#closing.signal]) };
  }

  /** Kills all processes; work in progress rejects. May be called more than once. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('the normalizer was closed'));
    await Promise.all([...this.#running].map(({ ended }) => ended));
  }
}

type Program = 'ffmpeg' | 'ffprobe';

/** Descriptor 3 of the process: an open file, or a pipe with the contents of one. */
type Input = FileHandle | Buffer;

/**
 * Starts `ffmpeg` or `ffprobe`. Never throws: a program that cannot be started counts as ended. It is sandboxed, dies
 * with this process, and runs in its own session, so Ctrl-C in a terminal does not interrupt a file that must still be
 * judged.
 */
function startFfmpeg(
  program: Program,
  args: readonly string[],
  input: Input,
  env: NodeJS.ProcessEnv,
): FfmpegProcess {
  let child: ChildProcess;
  try {
    // ffmpeg reopens an audio file, which may be readable only by the current user
    const line = confined(program, args, { memoryBytes: MAX_MEMORY_BYTES, reads: null });
    child = spawn(line.command, line.args, {
      cwd: '/',
      detached: true,
      env: Object.fromEntries(INHERITED.map((name) => [name, env[name]])),
      stdio: ['ignore', 'pipe', 'pipe', Buffer.isBuffer(input) ? 'pipe' : input.fd],
    });
  } catch (error) {
    // Node throws some of these errors, and emits others as events
    return {
      output: chunksOf(null),
      ended: Promise.resolve(notStarted(error)),
      processorMs: async () => null,
      kill: () => {},
    };
  }
  if (Buffer.isBuffer(input)) {
    const pipe = child.stdio[3] as Writable | null | undefined; // missing if descriptors ran out
    pipe?.on('error', () => {}); // the process ended before it read everything
    pipe?.end(input);
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
      if (child.pid === undefined) resolve(notStarted(error)); // otherwise a signal was sent too late
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

/**
 * Exit statuses of a shell or the loader for a program that cannot be executed, for example because a library is
 * missing.
 */
const CANNOT_RUN: ReadonlySet<number> = new Set([126, 127]);

/** The refusal for the way ffmpeg or ffprobe ended; null on success. */
function refusalByEnd(end: ProcessEnd): ItemError | null {
  switch (end.how) {
    case 'missing':
      return DECODING_ERRORS.ffmpegMissing;
    case 'no room':
      return DECODING_ERRORS.notStarted;
    case 'signalled':
      return CRASHES.has(end.signal) ? DECODING_ERRORS.crashing : DECODING_ERRORS.killed;
    case 'exited':
      if (end.code === 0) return null;
      if (CANNOT_RUN.has(end.code)) return DECODING_ERRORS.ffmpegMissing;
      return end.code === STOPPED_BY_SIGNAL ? DECODING_ERRORS.killed : DECODING_ERRORS.corrupt;
  }
}

/** The input that ffmpeg should expect in descriptor 3. */
export interface InputFormat {
  /** The format of the file; null to let ffmpeg detect it among `allowed`. */
  readonly format: string | null;
  /** ffmpeg's names of the formats that it may open. */
  readonly allowed: readonly string[];
  /** Whether the descriptor is a pipe, in which ffmpeg cannot seek. */
  readonly isPipe: boolean;
  /** Max single allocation: a header can request any amount. */
  readonly maxBlockBytes: number;
}

/**
 * Arguments for ffmpeg and ffprobe to open descriptor 3. The whitelists also apply to anything the file refers to:
 * without them, a playlist would make ffmpeg read other files.
 */
export function inputArguments({ format, allowed, isPipe, maxBlockBytes }: InputFormat): string[] {
  return [
    ...['-hide_banner', '-loglevel', 'error', '-max_alloc', String(maxBlockBytes)],
    ...['-protocol_whitelist', isPipe ? 'pipe' : 'file', '-format_whitelist', allowed.join(',')],
    ...(format === null ? [] : ['-f', format]),
    ...['-i', isPipe ? 'pipe:3' : `file:${DESCRIPTOR_PATH}`],
  ];
}

/** Time limit of ffmpeg: a base, plus an allowance for each second of audio decoded so far. */
export interface DecodeTime {
  /** Base limit of processor time. */
  readonly baseMs: number;
  readonly perAudioSecondMs: number;
  /** Wall-clock limit as a multiple of the processor time limit. */
  readonly wallFactor: number;
}

/** A running program. */
interface Working {
  readonly output: FfmpegProcess['output'];
  /**
   * Waits for its next result, with the time limit for audio decoded up to `decodedSeconds`. Time during which ffmpeg
   * waits for this process does not count: a clip must not fail because the guard is unavailable.
   */
  readonly wait: <T>(next: Promise<T>, decodedSeconds: number) => Promise<T>;
  /** Waits for its end. `refusal` is null on success; `complained` tells whether it still wrote to stderr. */
  readonly end: (
    decodedSeconds: number,
  ) => Promise<{ readonly refusal: ItemError | null; readonly complained: boolean }>;
}

/**
 * Starts a program, and kills it when `work` is over, when it exceeds its time limit, and on abort. Throws the errors
 * of `work` and the reason of an abort. No process is left running in any case.
 */
export async function withFfmpeg<T>(
  { start, time, signal }: Running,
  program: Program,
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
    const excess =
      limit.excess && (limit.excess === 'processor' ? DECODING_ERRORS.tooCostly : DECODING_ERRORS.tooSlow);
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
