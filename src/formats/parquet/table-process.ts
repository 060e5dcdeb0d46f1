import { type ChildProcess, spawn } from 'node:child_process';
import type { FileHandle } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { z } from 'zod';
import { confined, CRASHES } from '../../confinement/confined.ts';
import { processorTime } from '../../confinement/processor-time.ts';
import { TimeLimit } from '../../confinement/time-limit.ts';
import type { Problem, Request } from './child/messages.ts';
import { errorWithReason, itemError, type ItemError } from '../../domain/item-error.ts';

/** Why the rest of a Parquet file cannot be read. The rows before it were returned. */
export class ParquetProblem extends Error {
  override readonly name = 'ParquetProblem';
  readonly error: ItemError;

  constructor(error: ItemError) {
    super(error.message);
    this.error = error;
  }
}

function unreadable(message: string): ParquetProblem {
  return new ParquetProblem(itemError('UNREADABLE_SOURCE', message));
}

/** The file breaks the format. `what` names the part, in our own words. */
export function damaged(what: string): ParquetProblem {
  return unreadable(`the Parquet file is damaged: ${what}`);
}

/** The file exceeds a limit that bounds memory. */
export function tooLarge(what: string): ParquetProblem {
  return new ParquetProblem(itemError('ITEM_TOO_LARGE', what));
}

/** Entry point of the process, which runs compiled code. */
const ENTRY = createRequire(import.meta.url).resolve('#dist/src/formats/parquet/child/main.js');

/** Variables that the process needs. Keys and addresses do not belong in a process that parses untrusted files. */
const PASSED_ON = ['PATH', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH'];

/** Memory limit of the process: Node itself, DuckDB's buffers of 512 MB, and the batches. */
const MEMORY_BYTES = 2 * 1024 * 1024 * 1024;

/** Processor time for one answer; a copy of a file takes longer. */
const ANSWER_MS = 60_000;
/** Wall-clock time per processor time, also on a busy machine. */
const WALL_FACTOR = 10;

/** The process ended for a reason other than the file. */
const UNAVAILABLE = new ParquetProblem(
  itemError('INTERNAL', 'the process that reads Parquet files ended unexpectedly'),
);

/** An open file that was checked, and its size then. */
export interface OpenTable {
  readonly handle: FileHandle;
  readonly bytes: number;
}

/** A pending answer. */
interface Waiting {
  readonly maxBytes: number;
  readonly settle: (line: Buffer | ParquetProblem) => void;
}

/**
 * A process that reads one Parquet file with DuckDB, because untrusted files must not reach native code in this process. It
 * answers one request at a time. While idle, it does not keep this process alive.
 */
export class TableProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #problem: ParquetProblem | null = null;
  #waiting: Waiting | null = null;
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** Processor time it had used at its last answer. */
  #usedMs = 0;

  /** `descriptors`: become the descriptors 3 and following of the process. They may be closed once this returns. */
  constructor(descriptors: readonly number[]) {
    const env = Object.fromEntries(PASSED_ON.map((name) => [name, process.env[name]]));
    // It reopens the file, which perhaps only the current user may read.
    const { command, args } = confined(process.execPath, [ENTRY], { memoryBytes: MEMORY_BYTES, reads: null });
    this.#child = spawn(command, args, {
      cwd: '/',
      detached: true, // Ctrl-C must not reach it: its parent may still need its answer
      env: { ...env, UV_THREADPOOL_SIZE: '1', MALLOC_ARENA_MAX: '2' },
      stdio: ['pipe', 'pipe', 'ignore', ...descriptors],
    });
    this.#ended = new Promise((resolve) => {
      const end = (signal: NodeJS.Signals | null): void => {
        this.#problem ??= signal !== null && CRASHES.has(signal) ? new ReaderCrashedError() : UNAVAILABLE;
        this.#settle(this.#problem);
        resolve();
      };
      this.#child.once('exit', (_status, signal) => end(signal));
      this.#child.on('error', () => this.#child.pid === undefined && end(null));
    });
    this.#child.stdout?.on('data', (piece: Buffer) => this.#take(piece));
    for (const stream of [this.#child.stdin, this.#child.stdout]) stream?.on('error', () => {});
    this.#keepAlive(false);
  }

  /**
   * Asks for an answer of up to `maxBytes`. Rejects with ParquetProblem, also if the process crashes on the file or takes
   * longer than `processorMs`, and with the signal's reason; a crash, an excess and an abort end the process.
   */
  async ask<T extends { readonly cpuMs: number; readonly problem?: Problem | undefined }>(
    request: Request,
    answer: z.ZodType<T>,
    { maxBytes, signal, processorMs = ANSWER_MS }: AskOptions,
  ): Promise<T> {
    signal.throwIfAborted();
    const stop = (): void => void this.kill();
    const time = new TimeLimit(() => this.#processorMs(), stop);
    signal.addEventListener('abort', stop, { once: true });
    this.#keepAlive(true);
    time.resume({ processorMs, wallMs: WALL_FACTOR * processorMs });
    try {
      const line = await new Promise<Buffer | ParquetProblem>((settle) => {
        this.#waiting = { maxBytes, settle };
        if (this.#problem !== null) this.#settle(this.#problem);
        else this.#child.stdin?.write(`${JSON.stringify(request)}\n`);
      });
      signal.throwIfAborted();
      if (time.excess !== null) throw tooLarge('the rest of the Parquet file takes too long to read');
      if (line instanceof ParquetProblem) throw line;
      const parsed = answer.parse(JSON.parse(line.toString()));
      this.#usedMs = parsed.cpuMs;
      if (parsed.problem !== undefined) throw createProblem(parsed.problem);
      return parsed;
    } finally {
      time.pause();
      signal.removeEventListener('abort', stop);
      this.#keepAlive(false);
    }
  }

  /** Kills the process; settles when it is gone. */
  async kill(): Promise<void> {
    this.#problem ??= UNAVAILABLE;
    this.#child.ref();
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  #take(piece: Buffer): void {
    const end = piece.indexOf('\n');
    this.#pieces.push(end < 0 ? piece : piece.subarray(0, end));
    this.#bytes += piece.length;
    if (this.#waiting === null || this.#bytes > this.#waiting.maxBytes) {
      this.#problem ??= tooLarge('a row of the Parquet file is too large');
      this.#child.kill('SIGKILL');
      this.#pieces = [];
    } else if (end >= 0) {
      const line = Buffer.concat(this.#pieces);
      this.#pieces = [];
      this.#bytes = 0;
      this.#settle(line);
    }
  }

  #settle(line: Buffer | ParquetProblem): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.settle(line);
  }

  async #processorMs(): Promise<number | null> {
    const { pid } = this.#child;
    const used = pid === undefined ? null : await processorTime(pid);
    return used === null ? null : used - this.#usedMs;
  }

  #keepAlive(busy: boolean): void {
    const held = [this.#child, this.#child.stdin, this.#child.stdout] as readonly (Holding | null)[];
    for (const each of held)
      if (busy) each?.ref?.();
      else each?.unref?.();
  }
}

/** A process, or a stream to one, that can keep this process alive. */
interface Holding {
  ref?(): unknown;
  unref?(): unknown;
}

export interface AskOptions {
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly processorMs?: number;
}

/** The process crashed on the file, perhaps because many rows at once take too much memory. */
export class ReaderCrashedError extends ParquetProblem {
  constructor() {
    super(itemError('UNREADABLE_SOURCE', 'the Parquet file is damaged: it crashes its reader'));
  }
}

function createProblem({ kind, column }: Problem): ParquetProblem {
  switch (kind) {
    case 'damaged':
      return damaged('its rows cannot be read');
    case 'memory':
      return tooLarge('a row of the Parquet file takes too much memory');
    case 'encrypted':
      return unreadable('the Parquet file is encrypted');
    case 'codec':
      return new ParquetProblem(
        errorWithReason(
          'parquet_codec',
          'the Parquet file uses the old LZ4 codec, or another unsupported one: rewrite it with a supported codec',
        ),
      );
    case 'encoding':
      return unreadable(`the Parquet file has text that is not UTF-8, in ${column ?? 'some column'}`);
  }
}
