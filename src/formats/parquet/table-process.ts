import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import type { z } from 'zod';
import { confined, CRASHES } from '../../confinement/confined.ts';
import { processorTime } from '../../confinement/processor-time.ts';
import { TimeLimit } from '../../confinement/time-limit.ts';
import type { Problem, Request } from './child/messages.ts';
import { damaged, ParquetProblem, tooLarge, unsupported } from './parquet-problem.ts';
import { errorWithReason, itemError } from '../../domain/item-error.ts';

/** Entry point of the process, which runs compiled code. */
const ENTRY = createRequire(import.meta.url).resolve('#dist/src/formats/parquet/child/main.js');

/** Variables that the process needs. Keys and addresses do not belong in a process that parses untrusted files. */
const PASSED_ON = ['PATH', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH'];

/** Memory limit of the process: Node itself, DuckDB's buffers of 512 MB, and the batches. */
const MEMORY_BYTES = 2 * 1024 * 1024 * 1024;

/** Time for one answer; a copy of a file takes longer. */
const ANSWER_MS = 60_000;
/** Wall-clock time per processor time, also on a busy machine. */
const WALL_FACTOR = 10;

/** The process cannot be used any more, whatever the file. Translated at the edge of this folder. */
const UNAVAILABLE = new ParquetProblem(
  itemError('INTERNAL', 'the process that reads Parquet files ended unexpectedly'),
);

/** An answer that is awaited. */
interface Waiting {
  readonly maxBytes: number;
  readonly settle: (line: Buffer | ParquetProblem) => void;
}

/**
 * A process that reads and writes Parquet files with DuckDB, whose native code is no place for untrusted files in this
 * process. It answers one request at a time. While idle, it does not keep this process alive.
 */
export class TableProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #problem: ParquetProblem | null = null;
  #waiting: Waiting | null = null;
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** Processor time that it has used by its last answer. */
  #usedMs = 0;

  /** `descriptors`: the file, which becomes its descriptor 3, and others after it. They may be closed once this returns. */
  constructor(descriptors: readonly number[]) {
    const env = Object.fromEntries(PASSED_ON.map((name) => [name, process.env[name]]));
    // It opens the file anew, and perhaps only the current user may read it.
    const { command, args } = confined(process.execPath, [ENTRY], { memoryBytes: MEMORY_BYTES, reads: null });
    this.#child = spawn(command, args, {
      cwd: '/',
      detached: true, // Ctrl-C must not reach it: its parent may still need its answer
      env: { ...env, UV_THREADPOOL_SIZE: '1', MALLOC_ARENA_MAX: '2' },
      stdio: ['pipe', 'pipe', 'ignore', ...descriptors],
    });
    this.#ended = new Promise((resolve) => {
      const end = (signal: NodeJS.Signals | null): void => {
        this.#problem ??= signal !== null && CRASHES.has(signal) ? new ReaderCrashed() : UNAVAILABLE;
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

  /** Whether it can answer no more. */
  get hasEnded(): boolean {
    return this.#problem !== null;
  }

  /**
   * Asks for an answer of up to `maxBytes`. Rejects with ParquetProblem, also when the process crashes on the file or takes
   * too long, and with the signal's reason; either of them ends the process. `processorMs`: how long it may work.
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
      if (parsed.problem !== undefined) throw problemFor(parsed.problem);
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
export class ReaderCrashed extends ParquetProblem {
  constructor() {
    super(itemError('UNREADABLE_SOURCE', 'the Parquet file is damaged: it crashes its reader'));
  }
}

/** Some texts of the file are not UTF-8: DuckDB has to read them as bytes. */
export class TextsNotUtf8 extends ParquetProblem {}

function problemFor(problem: Problem): ParquetProblem {
  switch (problem) {
    case 'damaged':
      return damaged('its rows cannot be read on');
    case 'memory':
      return tooLarge('a row of the Parquet file takes too much memory');
    case 'encrypted':
      return unsupported('is encrypted');
    case 'codec':
      return new ParquetProblem(
        errorWithReason(
          'parquet_codec',
          'the Parquet file uses the old LZ4 codec, or another unsupported one: rewrite it with a supported codec',
        ),
      );
    case 'encoding':
      return new TextsNotUtf8(
        itemError('INVALID_ENCODING', 'the Parquet file holds texts that are not UTF-8'),
      );
  }
}
