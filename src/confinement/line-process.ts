import { type ChildProcess, spawn } from 'node:child_process';
import type { z } from 'zod';
import { confined, CRASHES } from './confined.ts';
import { processorTime } from './processor-time.ts';
import { TimeLimit } from './time-limit.ts';

/** Variables that the process needs. Keys and addresses must not reach a process that parses untrusted files. */
const PASSED_ON = ['PATH', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH'];

/** Maximum processor time for one answer, unless the caller allows more. */
const ANSWER_MS = 60_000;
/** Wall-clock time allowed per processor time, which must suffice on a busy machine. */
const WALL_FACTOR = 10;

/**
 * Why a process gave no answer: its own code crashed on the file, it ended for another reason, or its answer was too
 * long or took too long.
 */
export type ProcessFault = 'crashed' | 'ended' | 'too-large' | 'too-slow';

export class ProcessFailure extends Error {
  override readonly name = 'ProcessFailure';
  readonly fault: ProcessFault;

  constructor(fault: ProcessFault) {
    super(`the process that reads a file: ${fault}`);
    this.fault = fault;
  }
}

interface LineProcessOptions {
  /** Maximum virtual memory it may allocate, in bytes. */
  readonly memoryBytes: number;
  /** Become descriptors 3 and up in the process. The caller may close them once the constructor returns. */
  readonly descriptors: readonly number[];
}

export interface AskOptions {
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly processorMs?: number | undefined;
}

/** A pending answer. */
interface Waiting {
  readonly maxBytes: number;
  readonly settle: (line: Buffer | ProcessFault) => void;
}

/**
 * A sandboxed process that reads one untrusted file and answers requests one at a time; both are lines of JSON
 * (`serveLines`). While idle, it does not keep this process alive.
 *
 *   idle ── ask() ──► asked ── answer ──► idle
 *   either: kill(), a crash, an excess or an abort ──► ended: every request fails
 */
export class LineProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #fault: ProcessFault | null = null;
  #waiting: Waiting | null = null;
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** Processor time used up to its last answer. */
  #usedMs = 0;

  /** `entry` is the path of its compiled entry point. */
  constructor(entry: string, { memoryBytes, descriptors }: LineProcessOptions) {
    const env = Object.fromEntries(PASSED_ON.map((name) => [name, process.env[name]]));
    // It reopens its descriptors, which only the current user may be able to read.
    const { command, args } = confined(process.execPath, [entry], { memoryBytes, reads: null });
    this.#child = spawn(command, args, {
      cwd: '/',
      detached: true, // Ctrl-C must not reach it: its parent may still need its answer
      env: { ...env, UV_THREADPOOL_SIZE: '1', MALLOC_ARENA_MAX: '2' },
      stdio: ['pipe', 'pipe', 'ignore', ...descriptors],
    });
    this.#ended = new Promise((resolve) => {
      const end = (signal: NodeJS.Signals | null): void => {
        this.#fault ??= signal !== null && CRASHES.has(signal) ? 'crashed' : 'ended';
        this.#settle(this.#fault);
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
   * Asks for an answer of up to `maxBytes`. Rejects with ProcessFailure or the signal's reason. A crash, an excess or
   * an abort ends the process.
   */
  async ask<T extends { readonly cpuMs: number }>(
    request: object,
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
      const line = await new Promise<Buffer | ProcessFault>((settle) => {
        this.#waiting = { maxBytes, settle };
        if (this.#fault !== null) this.#settle(this.#fault);
        else this.#child.stdin?.write(`${JSON.stringify(request)}\n`);
      });
      signal.throwIfAborted();
      if (time.excess !== null) throw new ProcessFailure('too-slow');
      if (typeof line === 'string') throw new ProcessFailure(line);
      const parsed = answer.parse(JSON.parse(line.toString()));
      this.#usedMs = parsed.cpuMs;
      return parsed;
    } finally {
      time.pause();
      signal.removeEventListener('abort', stop);
      this.#keepAlive(false);
    }
  }

  /** Kills the process; settles when it is gone. */
  async kill(): Promise<void> {
    this.#fault ??= 'ended';
    this.#child.ref();
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  #take(piece: Buffer): void {
    const end = piece.indexOf('\n');
    this.#pieces.push(end < 0 ? piece : piece.subarray(0, end));
    this.#bytes += piece.length;
    if (this.#waiting === null || this.#bytes > this.#waiting.maxBytes) {
      this.#fault ??= 'too-large';
      this.#child.kill('SIGKILL');
      this.#pieces = [];
    } else if (end >= 0) {
      const line = Buffer.concat(this.#pieces);
      this.#pieces = [];
      this.#bytes = 0;
      this.#settle(line);
    }
  }

  #settle(line: Buffer | ProcessFault): void {
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
