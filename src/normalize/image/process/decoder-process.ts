import { type ChildProcess, fork } from 'node:child_process';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { itemError, type ItemError } from '../../../domain/item-error.ts';
import type { ByteBudget } from '../../../flow/byte-budget.ts';
import { confined } from '../../process/confined.ts';
import { CRASHES } from '../../process/crashes.ts';
import { processorTime } from '../../process/processor-time.ts';
import { TimeLimit, type Limits } from '../../process/time-limit.ts';
import type { NormalImage, Pixels } from '../normal-image.ts';
import type { Decoded, FromDecoder, ToDecoder, Wanted } from './messages.ts';

/** What a decoder needs of the environment. Keys and addresses do not belong where strangers' files are parsed. */
const PASSED_ON = ['PATH', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'SystemRoot', 'TMPDIR', 'TEMP', 'TZ'];

/** One process decodes one image at a time, so that several threads would only keep memory apart for nothing. */
const FRUGAL = { UV_THREADPOOL_SIZE: '1', MALLOC_ARENA_MAX: '2' };

/** What runs in the process, and a file of the library that it loads. */
const ENTRY = fileURLToPath(new URL(`./decoder-main${extname(import.meta.url)}`, import.meta.url));
const LIBRARY = createRequire(import.meta.url).resolve('sharp');

/** The files that have to be readable for a decoder to run. */
export const DECODER_READS: readonly string[] = [ENTRY, LIBRARY, process.execPath];

/** What became of an image; `died` is the error to end with where its decoder died over it. */
export type Attempt<T> = T | ItemError | { readonly died: ItemError };

interface Task {
  readonly finish: (result: Attempt<NormalImage | Pixels>) => void;
  /** Aborted when the task is over, however it ended. */
  readonly over: AbortController;
  readonly time: TimeLimit;
}

export interface DecoderOptions {
  /** Shared by all decoders: what they may need together. */
  readonly memory: ByteBudget;
  /** What an image may take, waiting for memory not counted. */
  readonly limits: Limits;
  /** Bytes that one decoder can allocate, of which its program alone takes about a hundred million. */
  readonly memoryBytes: number;
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
  readonly #ready: Promise<void>;
  #isReady = false;
  /** What it had used before it got its image. */
  #usedMs = 0;
  #task: Task | null = null;

  private constructor(child: ChildProcess, options: DecoderOptions) {
    this.#child = child;
    this.#options = options;
    this.#ready = new Promise((resolve) => {
      child.on('message', (message: FromDecoder) => {
        if (message.kind === 'ready') {
          this.#isReady = true;
          resolve();
        } else this.#receive(message);
      });
    });
    this.#ended = new Promise((resolve) => {
      const end = (signal: NodeJS.Signals | null): void => {
        this.#hasEnded = true;
        this.#finish(this.#tooLong() ?? this.#endedBy(signal));
        resolve();
      };
      child.once('exit', (_status, signal) => end(signal));
      // could not be started, and so will not exit; a message that cannot be sent is followed by the exit
      child.on('error', () => child.pid === undefined && end(null));
    });
    this.#keepAlive(false);
  }

  static start(options: DecoderOptions): DecoderProcess {
    const passedOn = PASSED_ON.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value] as const];
    });
    const { command, args } = confined(process.execPath, ['--expose-gc'], {
      memoryBytes: options.memoryBytes,
      reads: DECODER_READS,
    });
    const child = fork(ENTRY, {
      cwd: '/',
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
  decode<W extends Wanted>(bytes: Buffer, wanted: W): Promise<Attempt<Decoded<W>>> {
    return new Promise((resolve) => {
      // the decoder answers with what it was asked for
      const finish = resolve as Task['finish'];
      const time = new TimeLimit(
        () => this.#processorTime(),
        () => this.#child.kill('SIGKILL'),
      );
      const task = { finish, over: new AbortController(), time };
      this.#task = task;
      if (this.#hasEnded) return this.#finish(this.#endedBy(null));
      this.#keepAlive(true);
      time.resume(this.#options.limits);
      void this.#ready.then(() => {
        if (this.#task === task) this.#send({ kind: 'decode', bytes, wanted });
      });
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

  #receive(message: Exclude<FromDecoder, { kind: 'ready' }>): void {
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

  #finish(result: Attempt<NormalImage | Pixels>): void {
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

  /** A process that could not even start says nothing of the image, which it was not given. */
  #endedBy(signal: NodeJS.Signals | null): { readonly died: ItemError } {
    return {
      died:
        this.#isReady && signal !== null && CRASHES.has(signal)
          ? itemError('CORRUPT_MEDIA', 'the image crashes its decoder')
          : itemError('INTERNAL', 'the process that decoded the image came to an end'),
    };
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
