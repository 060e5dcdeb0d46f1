import { type ChildProcess, fork } from 'node:child_process';
import { extname } from 'node:path';
import { itemError, type ItemError } from '../../../domain/item-error.ts';
import type { ByteBudget } from '../../../queue/byte-budget.ts';
import type { NormalImage } from '../normal-image.ts';
import type { FromDecoder, ToDecoder } from './messages.ts';

/** Signals by which the system ends a program whose own code went wrong, here while it decoded one certain image. */
const CRASHES: ReadonlySet<NodeJS.Signals | null> = new Set([
  'SIGSEGV',
  'SIGBUS',
  'SIGILL',
  'SIGFPE',
] as const);

/** What a decoder needs of the environment. Keys and addresses do not belong where strangers' files are parsed. */
const PASSED_ON = ['PATH', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'SystemRoot', 'TMPDIR', 'TEMP', 'TZ'];

/** One process decodes one image at a time, so that several threads would only keep memory apart for nothing. */
const FRUGAL = { UV_THREADPOOL_SIZE: '1', MALLOC_ARENA_MAX: '2' };

interface Task {
  readonly finish: (result: NormalImage | ItemError) => void;
  /** Aborted when the task is over, however it ended. */
  readonly over: AbortController;
  timer: NodeJS.Timeout | undefined;
}

export interface DecoderOptions {
  /** Shared by all decoders: what they may need together. */
  readonly memory: ByteBudget;
  /** How long an image may take, waiting for memory not counted. */
  readonly timeoutMs: number;
}

/**
 * A process that decodes images, one at a time. A process and not a thread, because a decoder that crashes takes its
 * whole process along, and one that hangs cannot be ended in any other way. While it has nothing to do, it does not
 * keep its starter alive.
 */
export class DecoderProcess {
  readonly #child: ChildProcess;
  readonly #options: DecoderOptions;
  readonly #ended: Promise<void>;
  #hasEnded = false;
  #isLate = false;
  #task: Task | null = null;

  private constructor(child: ChildProcess, options: DecoderOptions) {
    this.#child = child;
    this.#options = options;
    child.on('message', (message: FromDecoder) => this.#receive(message));
    this.#ended = new Promise((resolve) => {
      const end = (signal: NodeJS.Signals | null): void => {
        this.#hasEnded = true;
        this.#finish(this.#errorOfEnd(signal));
        resolve();
      };
      child.once('exit', (_status, signal) => end(signal));
      // could not be started, and so will not exit; a message that cannot be sent is followed by the exit
      child.on('error', () => child.pid === undefined && end(null));
    });
    this.#keepAlive(false);
  }

  static start(options: DecoderOptions): DecoderProcess {
    const entry = new URL(`./decoder-main${extname(import.meta.url)}`, import.meta.url);
    const passedOn = PASSED_ON.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value] as const];
    });
    const child = fork(entry, {
      serialization: 'advanced',
      detached: true, // a terminal's Ctrl-C reaches its starter, which may still want its answer
      execArgv: ['--expose-gc'],
      env: { ...Object.fromEntries(passedOn), ...FRUGAL },
      // what libraries print about a file can quote it
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    return new DecoderProcess(child, options);
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /**
   * The normal form of an image, or its item error, to which belong `CORRUPT_MEDIA` for one that crashes the decoder,
   * `TIMEOUT`, and `INTERNAL` when the process ends for a reason of its own. Never rejects. One image at a time.
   */
  normalize(bytes: Buffer, frames: number): Promise<NormalImage | ItemError> {
    return new Promise((finish) => {
      this.#task = { finish, over: new AbortController(), timer: undefined };
      if (this.#hasEnded) return this.#finish(this.#errorOfEnd(null));
      this.#keepAlive(true);
      this.#watch(this.#task);
      this.#send({ kind: 'normalize', bytes, frames });
    });
  }

  /** Ends the process at once; an image under way is over. */
  async kill(): Promise<void> {
    this.#keepAlive(true); // whoever waits for the end must live to see it
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  #send(message: ToDecoder): void {
    // a process that cannot be written to any more is about to exit, which ends the task
    this.#child.send(message, () => undefined);
  }

  #receive(message: FromDecoder): void {
    if (message.kind === 'done') this.#finish(message.result);
    else if (this.#task !== null) void this.#admit(message.bytes, this.#task);
  }

  async #admit(bytes: number, task: Task): Promise<void> {
    const { memory } = this.#options;
    clearTimeout(task.timer);
    try {
      await memory.enter(bytes, task.over.signal);
    } catch {
      return; // it is over
    }
    if (task.over.signal.aborted) return memory.leave(bytes);
    task.over.signal.addEventListener('abort', () => memory.leave(bytes), { once: true });
    this.#watch(task);
    this.#send({ kind: 'proceed' });
  }

  #watch(task: Task): void {
    task.timer = setTimeout(() => {
      this.#isLate = true;
      this.#child.kill('SIGKILL');
    }, this.#options.timeoutMs);
  }

  #finish(result: NormalImage | ItemError): void {
    const task = this.#task;
    if (task === null) return;
    this.#task = null;
    clearTimeout(task.timer);
    task.over.abort();
    this.#keepAlive(false);
    task.finish(result);
  }

  #errorOfEnd(signal: NodeJS.Signals | null): ItemError {
    if (this.#isLate) {
      return itemError('TIMEOUT', `the image was not decoded within ${this.#options.timeoutMs / 1000} s`);
    }
    return CRASHES.has(signal)
      ? itemError('CORRUPT_MEDIA', 'the image crashes its decoder')
      : itemError('INTERNAL', 'the process that decoded the image came to an end');
  }

  #keepAlive(busy: boolean): void {
    const { channel } = this.#child;
    if (busy) {
      this.#child.ref();
      channel?.ref();
    } else {
      this.#child.unref();
      channel?.unref();
    }
  }
}
