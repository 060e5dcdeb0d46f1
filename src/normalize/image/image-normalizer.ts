import { availableParallelism } from 'node:os';
import pLimit, { type LimitFunction } from 'p-limit';
import type { ItemError } from '../../domain/item-error.ts';
import { ByteBudget } from '../../flow/byte-budget.ts';
import { abortable } from '../../flow/abortable.ts';
import type { Limits } from '../../confinement/time-limit.ts';
import type { NormalImage, Picture, Pixels } from './normal-image.ts';
import { hasMagicBytes } from '../../domain/magic-bytes.ts';
import { FFMPEG_DEATHS, FfmpegProcesses } from '../ffmpeg-process.ts';
import { bitmapMemory, convertBitmap, readBitmapSize } from './bitmap.ts';
import { unlessRefused } from './limits.ts';
import type { WantedPicture } from './normalize-image.ts';
import { type Attempt, type Decoded, DecoderProcess, type WantedForm } from './process/decoder-process.ts';

export interface ImageOptions {
  /** Maximum number of frames of an animation, or pages: 1 or more. */
  readonly frames: number;
  /** Return each frame as PNG, even if the file itself is in normalized format. Default: false. */
  readonly onlyPng?: boolean;
  readonly signal: AbortSignal;
}

export interface ImageNormalizerOptions {
  /** Max concurrently decoded images, each in its own process; default: the number of cores. */
  readonly processes?: number;
  /** Time limits per image; default: 1 min of processor time, 20 min of wall-clock time. */
  readonly limits?: Limits;
  /** Memory limit per process in bytes, where the system supports one; default: 2.5 GiB. */
  readonly memoryBytes?: number;
}

const LIMITS: Limits = { processorMs: 60_000, wallMs: 20 * 60_000 };

/**
 * More than any image needs that passes the header checks: the largest WebP allocates 2 GiB and uses half of it. Only
 * inconsistent files and library bugs reach this limit.
 */
const MAX_ALLOCATED = 2.5 * 1024 * 1024 * 1024;

/** Memory budget for decoding: a photograph of 12 megapixels per process, and at least one large photograph. */
const MEMORY_PER_PROCESS = 80 * 1024 * 1024;
const MIN_MEMORY = 320 * 1024 * 1024;

/**
 * Normalizes images in separate processes, so neither a slow nor a malicious file affects this process. Starts no
 * process before the first image. Limits the number and the memory of concurrently decoded images (an image over the
 * memory budget is decoded alone). The caller limits the number of waiting images.
 */
export class ImageNormalizer {
  readonly #slots: LimitFunction;
  readonly #memory: ByteBudget;
  /**
   * Memory for converting bitmaps, held until the result is decoded. Separate, because decoding takes from `#memory`.
   */
  readonly #bitmaps = new ByteBudget(MIN_MEMORY);
  readonly #ffmpeg = new FfmpegProcesses();
  readonly #limits: Limits;
  readonly #memoryBytes: number;
  readonly #decoders = new Set<DecoderProcess>();
  readonly #idle: DecoderProcess[] = [];
  #isClosed = false;

  constructor({
    processes = availableParallelism(),
    limits = LIMITS,
    memoryBytes = MAX_ALLOCATED,
  }: ImageNormalizerOptions = {}) {
    this.#slots = pLimit(processes);
    this.#memory = new ByteBudget(Math.max(MIN_MEMORY, processes * MEMORY_PER_PROCESS));
    this.#limits = limits;
    this.#memoryBytes = memoryBytes;
  }

  /**
   * Normalizes an image file, or returns why it cannot: `EMPTY_CONTENT`, `UNSUPPORTED_TYPE`, `MEDIA_TOO_LARGE`,
   * `CORRUPT_MEDIA`, or the retryable `TIMEOUT` and `INTERNAL`. If the decoder dies, the image is tried once more.
   * Rejects with the signal's reason, and after `close`.
   */
  image(bytes: Buffer, { frames, onlyPng = false, signal }: ImageOptions): Promise<NormalImage | ItemError> {
    return this.#inTurn(bytes, { frames, onlyPng }, signal);
  }

  /** The first frame in normalized format, as pixels. Errors and rejections as for `image`. */
  pixels(bytes: Buffer, signal: AbortSignal): Promise<Pixels | ItemError> {
    return this.#inTurn(bytes, 'pixels', signal);
  }

  /** One frame as a PNG. Errors and rejections as for `image`. */
  picture(bytes: Buffer, wanted: WantedPicture, signal: AbortSignal): Promise<Picture | ItemError> {
    return this.#inTurn(bytes, wanted, signal);
  }

  /** Kills all processes; images in progress reject. May be called more than once. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([this.#ffmpeg.close(), ...[...this.#decoders].map((decoder) => decoder.kill())]);
  }

  #inTurn<W extends WantedForm>(
    bytes: Buffer,
    wanted: W,
    signal: AbortSignal,
  ): Promise<Decoded<W> | ItemError> {
    const result = this.#slots(async () => {
      signal.throwIfAborted();
      const isBitmap = hasMagicBytes(bytes, 'bmp');
      const attempt = (): Promise<Attempt<Decoded<W>>> =>
        isBitmap ? this.#attemptBitmap(bytes, wanted, signal) : this.#attempt(bytes, wanted);
      // The machine may cause the first death of a decoder, such as by a lack of memory. The second is blamed on the
      // image.
      const first = await attempt();
      if (!('died' in first)) return first;
      const second = await attempt();
      return 'died' in second ? second.died : second;
    });
    return abortable(result, signal);
  }

  /** Converts a bitmap with ffmpeg, and decodes the result. */
  async #attemptBitmap<W extends WantedForm>(
    bytes: Buffer,
    wanted: W,
    signal: AbortSignal,
  ): Promise<Attempt<Decoded<W>>> {
    this.#throwIfClosed();
    const size = await unlessRefused(async () => readBitmapSize(bytes));
    if ('code' in size) return size;
    const { processorMs, wallMs } = this.#limits;
    const time = { baseMs: processorMs, perAudioSecondMs: 0, wallFactor: wallMs / processorMs };
    const running = this.#ffmpeg.prepare(bytes, { env: process.env, time, signal });
    await this.#bitmaps.enter(bitmapMemory(size), running.signal);
    try {
      const tiff = await convertBitmap(size, running);
      if (Buffer.isBuffer(tiff)) return await this.#attempt(tiff, wanted);
      return FFMPEG_DEATHS.has(tiff) ? { died: tiff } : tiff;
    } finally {
      this.#bitmaps.leave(bitmapMemory(size));
    }
  }

  async #attempt<W extends WantedForm>(bytes: Buffer, wanted: W): Promise<Attempt<Decoded<W>>> {
    this.#throwIfClosed();
    const decoder = this.#takeIdle() ?? this.#start();
    const result = await decoder.decode(bytes, wanted);
    this.#throwIfClosed();
    this.#idle.push(decoder);
    return result;
  }

  /** Takes an idle process. Idle processes that have ended are dropped. */
  #takeIdle(): DecoderProcess | null {
    for (let decoder = this.#idle.pop(); decoder !== undefined; decoder = this.#idle.pop()) {
      if (!decoder.hasEnded) return decoder;
      this.#decoders.delete(decoder);
    }
    return null;
  }

  #start(): DecoderProcess {
    const decoder = DecoderProcess.start({
      memory: this.#memory,
      limits: this.#limits,
      memoryBytes: this.#memoryBytes,
    });
    this.#decoders.add(decoder);
    return decoder;
  }

  #throwIfClosed(): void {
    if (this.#isClosed) throw new Error('the normalizer was closed');
  }
}
