import { availableParallelism } from 'node:os';
import pLimit, { type LimitFunction } from 'p-limit';
import type { ItemError } from '../../domain/item-error.ts';
import { ByteBudget } from '../../flow/byte-budget.ts';
import { abortable } from '../../flow/abortable.ts';
import type { Limits } from '../process/time-limit.ts';
import type { NormalImage, Pixels } from './normal-image.ts';
import { DecoderProcess, type Attempt } from './process/decoder-process.ts';
import type { Decoded, Wanted } from './process/messages.ts';

export interface ImageOptions {
  /** How many frames of an animation, or pages, are wanted at most: 1 or more. */
  readonly frames: number;
  /** Whether each frame is wanted as PNG, even where the file itself would do; not unless given. */
  readonly onlyPng?: boolean;
  readonly signal: AbortSignal;
}

export interface ImageNormalizerOptions {
  /** How many images are decoded side by side, each in a process of its own; as many as there are cores unless given. */
  readonly processes?: number;
  /** How long one image may take; a minute of work and twenty by the clock unless given. */
  readonly limits?: Limits;
  /** Bytes that one process can allocate, where the system can bound that; 2.5 GiB unless given. */
  readonly memoryBytes?: number;
}

const LIMITS: Limits = { processorMs: 60_000, wallMs: 20 * 60_000 };

/**
 * More than any image takes that is let through by what its header says: WebP of the largest size has 2 GiB allocated,
 * of which it uses half. It is for files that contradict themselves, and for faults of a library.
 */
const MAX_ALLOCATED = 2.5 * 1024 * 1024 * 1024;

/** Memory for decoding side by side: that of a photograph of 12 megapixels a process, and of a large one in any case. */
const MEMORY_PER_PROCESS = 80 * 1024 * 1024;
const MIN_MEMORY = 320 * 1024 * 1024;

/**
 * Brings images into normal form in processes of its own, so that neither a slow nor a malicious file touches this
 * one. Starts none before the first image. What is decoded at a time is bounded in number and in memory (a single
 * larger image goes alone); what waits is bounded by whoever holds its bytes.
 */
export class ImageNormalizer {
  readonly #slots: LimitFunction;
  readonly #memory: ByteBudget;
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
   * The normal form of an image file, or why it has none: `EMPTY_CONTENT`, `UNSUPPORTED_TYPE`, `MEDIA_TOO_LARGE`,
   * `CORRUPT_MEDIA`; retryable `TIMEOUT` and `INTERNAL`. One whose decoder dies is tried again, once. Rejects with the
   * signal's reason, and once it is closed.
   */
  image(bytes: Buffer, { frames, onlyPng = false, signal }: ImageOptions): Promise<NormalImage | ItemError> {
    return this.#inTurn(bytes, { frames, onlyPng }, signal);
  }

  /** The normal form of an image's first frame as pixels; errors and rejections as with `image`. */
  pixels(bytes: Buffer, signal: AbortSignal): Promise<Pixels | ItemError> {
    return this.#inTurn(bytes, 'pixels', signal);
  }

  /** Ends every process; images under way reject. Any number of times. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#decoders].map((decoder) => decoder.kill()));
  }

  #inTurn<W extends Wanted>(bytes: Buffer, wanted: W, signal: AbortSignal): Promise<Decoded<W> | ItemError> {
    const result = this.#slots(() => {
      signal.throwIfAborted();
      return this.#decode(bytes, wanted);
    });
    return abortable(result, signal);
  }

  /** A decoder's death may be nothing but bad luck, such as a machine out of memory: a second one is the image's. */
  async #decode<W extends Wanted>(bytes: Buffer, wanted: W): Promise<Decoded<W> | ItemError> {
    const first = await this.#attempt(bytes, wanted);
    if (!('died' in first)) return first;
    const second = await this.#attempt(bytes, wanted);
    return 'died' in second ? second.died : second;
  }

  async #attempt<W extends Wanted>(bytes: Buffer, wanted: W): Promise<Attempt<Decoded<W>>> {
    this.#throwIfClosed();
    const decoder = this.#takeIdle() ?? this.#start();
    const result = await decoder.decode(bytes, wanted);
    this.#throwIfClosed();
    this.#idle.push(decoder);
    return result;
  }

  /** A process that waits for an image; one that has ended, over its last image or since, is let go of. */
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
