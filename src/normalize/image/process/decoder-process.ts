import { type ChildProcess, fork } from 'node:child_process';
import { extname } from 'node:path';
import { itemError, type ItemError } from '../../../domain/item-error.ts';
import type { ByteBudget } from '../../../queue/byte-budget.ts';
import { processorTime } from '../../process/processor-time.ts';
import { tethered } from '../../process/tether.ts';
import { TimeLimit, type Limits } from '../../process/time-limit.ts';
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
  readonly finish: (result: NormalImage | ItemError | { readonly died: ItemError }) => void;
  /** Aborted when the task is over, however it ended. */
  readonly over: AbortController;
  readonly time: TimeLimit;
}

export interface DecoderOptions {
  /** Shared by all decoders: what they may need together. */
  readonly memory: ByteBudget;
  /** What an image may take, waiting for memory not counted. */
  readonly limits: Limits;
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
  /** What it had used before it got its image. */
  #usedMs = 0;
  #task: Task | null = null;

  private constructor(child: ChildProcess, options: DecoderOptions) {
    this.#child = child;
    this.#options = options;
    child.on('message', (message: FromDecoder) => this.#receive(message));
    this.#ended = new Promise((resolve) => {
      const end = (signal: NodeJS.Signals | null): void => {
        this.#hasEnded = true;
        this.#finish(this.#tooLong() ?? endedBy(signal));
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
    const { command, args } = tethered(process.execPath, ['--expose-gc']);
    const child = fork(entry, {
      execPath: command,
      execArgv: [...args],
      serialization: 'advanced',
      detached: true, // a terminal's Ctrl-C reaches its starter, which may still want its answer
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
   * The normal form of an image, or its item error, to which belong `MEDIA_TOO_LARGE` for one that takes too much
   * processor time, and `TIMEOUT`. A decoder that dies over it, of the image or of something outside, gives the error
   * to end with as `died`. Never rejects. One image at a time.
   */
  normalize(bytes: Buffer, frames: number): Promise<NormalImage | ItemError | { readonly died: ItemError }> {
    return new Promise((finish) => {
      const time = new TimeLimit(
        () => this.#processorTime(),
        () => this.#child.kill('SIGKILL'),
      );
      this.#task = { finish, over: new AbortController(), time };
      if (this.#hasEnded) return this.#finish(endedBy(null));
      this.#keepAlive(true);
      time.resume(this.#options.limits);
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
    if (message.kind === 'done') {
      this.#usedMs = message.processorMs;
      this.#finish(message.result);
    } else if (this.#task !== null) {
      void this.#admit(message.bytes, this.#task);
    }
  }

  async #admit(bytes: number, task: Task): Promise<void> {
    const { memory, limits } = this.#options;
    task.time.pause();
    try {
      await memory.enter(bytes, task.over.signal);
    } catch {
      return; // it is over
    }
    if (task.over.signal.aborted) return memory.leave(bytes);
    task.over.signal.addEventListener('abort', () => memory.leave(bytes), { once: true });
    task.time.resume(limits);
    this.#send({ kind: 'proceed' });
  }

  /** Of the image under way. */
  async #processorTime(): Promise<number | null> {
    const { pid } = this.#child;
    const used = pid === undefined ? null : await processorTime(pid);
    return used === null ? null : used - this.#usedMs;
  }

  #finish(result: NormalImage | ItemError | { readonly died: ItemError }): void {
    const task = this.#task;
    if (task === null) return;
    this.#task = null;
    task.time.pause();
    task.over.abort();
    this.#keepAlive(false);
    task.finish(result);
  }

  /** Why the image under way had its decoder ended, if it had. */
  #tooLong(): ItemError | null {
    const { processorMs, wallMs } = this.#options.limits;
    switch (this.#task?.time.excess) {
      case 'processor':
        return itemError(
          'MEDIA_TOO_LARGE',
          `decoding the image takes more than ${processorMs / 1000} s of processor time`,
        );
      case 'wall':
        return itemError('TIMEOUT', `the image was not decoded within ${wallMs / 1000} s`);
      default:
        return null;
    }
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

function endedBy(signal: NodeJS.Signals | null): { readonly died: ItemError } {
  return {
    died: CRASHES.has(signal)
      ? itemError('CORRUPT_MEDIA', 'the image crashes its decoder')
      : itemError('INTERNAL', 'the process that decoded the image came to an end'),
  };
}
