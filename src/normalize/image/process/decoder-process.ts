import { type ChildProcess, fork } from 'node:child_process';
import { createRequire } from 'node:module';
import { itemError, type ItemError } from '../../../domain/item-error.ts';
import type { ByteBudget } from '../../../flow/byte-budget.ts';
import { confined, CRASHES } from '../../../confinement/confined.ts';
import { processorTime } from '../../../confinement/processor-time.ts';
import { TimeLimit, type Limits } from '../../../confinement/time-limit.ts';
import { LIBHEIF } from '../heic.ts';
import type { NormalImage, Picture, Pixels } from '../normal-image.ts';
import type { WantedFrames, WantedPicture } from '../normalize-image.ts';

/** The requested result: frames as files, the pixels of the first frame, or one frame as a picture. */
export type WantedForm = WantedFrames | WantedPicture | 'pixels';

/** The result for a request. */
export type Decoded<W extends WantedForm> = W extends 'pixels'
  ? Pixels
  : W extends WantedPicture
    ? Picture
    : NormalImage;

/** The result of any request. */
export type AnyDecoded = NormalImage | Pixels | Picture;

/**
 * Messages between this process and a decoder. The decoder reports `ready` once. Then, for one image at a time: this
 * process sends `decode`, the decoder reports how much memory it `needs`, waits for `proceed`, and answers with `done`.
 */
export type ToDecoder =
  | { readonly kind: 'decode'; readonly bytes: Buffer; readonly wanted: WantedForm }
  | { readonly kind: 'proceed' };

export type FromDecoder =
  | { readonly kind: 'ready' }
  | { readonly kind: 'needs'; readonly bytes: number }
  | {
      readonly kind: 'done';
      readonly result: AnyDecoded | ItemError;
      /** Processor time used by the process since its start. */
      readonly processorMs: number;
    };

/** Variables that a decoder needs. Keys and addresses do not belong in a process that parses untrusted files. */
const PASSED_ON = ['PATH', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'SystemRoot', 'TMPDIR', 'TEMP', 'TZ'];

/**
 * Memory up to this size is reused for the next image: for a large photograph, mapping new memory took a sixth of the
 * time.
 */
const REUSED_BYTES = String(64 * 1024 * 1024);

/** A process decodes one image at a time: more threads would only fragment memory. */
const ALLOCATION = {
  UV_THREADPOOL_SIZE: '1',
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: REUSED_BYTES,
  MALLOC_TRIM_THRESHOLD_: REUSED_BYTES,
};

/** Entry point of the process. */
const { resolve } = createRequire(import.meta.url);
const ENTRY = resolve('#dist/src/normalize/image/process/decoder-main.js');

/** Files that must be readable for a decoder to run. */
const DECODER_READS: readonly string[] = [ENTRY, resolve('sharp'), resolve(LIBHEIF), process.execPath];

/** The result of an image. `died` is the error to use if the decoder died and the image is not tried again. */
export type Attempt<T> = T | ItemError | { readonly died: ItemError };

interface Task {
  readonly finish: (result: Attempt<AnyDecoded>) => void;
  /** Aborted when the task ends, for any reason. */
  readonly over: AbortController;
  readonly time: TimeLimit;
}

interface DecoderOptions {
  /** Memory budget of all decoders together. */
  readonly memory: ByteBudget;
  /** Time limits per image, not counting the wait for memory. */
  readonly limits: Limits;
  /** Memory limit of one decoder in bytes; Node itself takes about 100 MB of it. */
  readonly memoryBytes: number;
}

/**
 * A process that decodes images, one at a time. It is not a thread, because a crash ends the whole process, and only a
 * process can be killed when it hangs. While idle, it does not keep its parent alive.
 */
export class DecoderProcess {
  readonly #child: ChildProcess;
  readonly #options: DecoderOptions;
  readonly #ended: Promise<void>;
  #hasEnded = false;
  readonly #ready: Promise<void>;
  #isReady = false;
  /** Processor time the process had used before the current image. */
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
      // without a pid it was not started and will not exit; an error of `send` is followed by the exit
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
      detached: true, // Ctrl-C must not reach it: its parent may still need its answer
      env: { ...Object.fromEntries(passedOn), ...ALLOCATION },
      // output of libraries can quote the file
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    return new DecoderProcess(child, options);
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /**
   * Decodes an image to the requested form, or returns its item error, including `MEDIA_TOO_LARGE` for too much
   * processor time and `TIMEOUT`. If the decoder dies, for whatever reason, returns `died`. Never rejects. One image at
   * a time.
   */
  decode<W extends WantedForm>(bytes: Buffer, wanted: W): Promise<Attempt<Decoded<W>>> {
    return new Promise((resolve) => {
      // the decoder answers with the requested form
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

  /** Kills the process, including any image in progress. */
  async kill(): Promise<void> {
    this.#keepAlive(true); // this process must not exit before `#ended` settles
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  #send(message: ToDecoder): void {
    // if sending fails, the process is about to exit, which ends the task
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
      return; // the task has ended
    }
    if (task.over.signal.aborted) return memory.leave(bytes);
    task.over.signal.addEventListener('abort', () => memory.leave(bytes), { once: true });
    task.time.resume(limits);
    this.#send({ kind: 'proceed' });
  }

  /** Processor time of the current image in milliseconds. */
  async #processorTime(): Promise<number | null> {
    const { pid } = this.#child;
    const used = pid === undefined ? null : await processorTime(pid);
    return used === null ? null : used - this.#usedMs;
  }

  #finish(result: Attempt<AnyDecoded>): void {
    const task = this.#task;
    if (task === null) return;
    this.#task = null;
    task.time.pause();
    task.over.abort();
    this.#keepAlive(false);
    task.finish(result);
  }

  /** The error of the current image if its decoder exceeded a time limit. */
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

  /** The result when the process ends. A crash before the image was sent says nothing about the image. */
  #endedBy(signal: NodeJS.Signals | null): { readonly died: ItemError } {
    return {
      died:
        this.#isReady && signal !== null && CRASHES.has(signal)
          ? itemError('CORRUPT_MEDIA', 'the image crashes its decoder')
          : itemError('INTERNAL', 'the process that decoded the image ended unexpectedly'),
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
