import { availableParallelism } from 'node:os';
import pLimit, { type LimitFunction } from 'p-limit';
import type { ItemError } from '../../domain/item-error.ts';
import { ByteBudget } from '../../queue/byte-budget.ts';
import { abortable } from '../../queue/redis/abortable.ts';
import type { Limits } from '../process/time-limit.ts';
import type { NormalImage } from './normal-image.ts';
import { DecoderProcess } from './process/decoder-process.ts';

export interface ImageOptions {
  /** How many frames of an animation, or pages, are wanted at most: 1 or more. */
  readonly frames: number;
  readonly signal: AbortSignal;
}

export interface ImageNormalizerOptions {
  /** How many images are decoded side by side, each in a process of its own; as many as there are cores unless given. */
  readonly processes?: number;
  /** How long one image may take; a minute of work and twenty by the clock unless given. */
  readonly limits?: Limits;
}

const LIMITS: Limits = { processorMs: 60_000, wallMs: 20 * 60_000 };

/** Memory for decoding side by side: that of a photograph of 12 megapixels a process, and of a large one in any case. */
const MEMORY_PER_PROCESS = 80 * 1024 * 1024;
const LEAST_MEMORY = 320 * 1024 * 1024;

/**
 * Brings images into normal form in processes of its own, so that neither a slow nor a malicious file touches this
 * one. Starts none before the first image. What is decoded at a time is bounded in number and in memory (a single
 * larger image goes alone); what waits is bounded by whoever holds its bytes.
 */
export class ImageNormalizer {
  readonly #slots: LimitFunction;
  readonly #memory: ByteBudget;
  readonly #limits: Limits;
  readonly #decoders = new Set<DecoderProcess>();
  readonly #idle: DecoderProcess[] = [];
  #isClosed = false;

  constructor({ processes = availableParallelism(), limits = LIMITS }: ImageNormalizerOptions = {}) {
    this.#slots = pLimit(processes);
    this.#memory = new ByteBudget(Math.max(LEAST_MEMORY, processes * MEMORY_PER_PROCESS));
    this.#limits = limits;
  }

  /**
   * The normal form of an image file, or why it has none: `EMPTY_CONTENT`, `UNSUPPORTED_TYPE`, `MEDIA_TOO_LARGE`,
   * `CORRUPT_MEDIA`; retryable `TIMEOUT` and `INTERNAL`. One whose decoder dies is tried again, once. Rejects with the signal's reason, and once it is closed.
   */
  image(bytes: Buffer, { frames, signal }: ImageOptions): Promise<NormalImage | ItemError> {
    const result = this.#slots(() => {
      signal.throwIfAborted();
      return this.#decode(bytes, frames);
    });
    return abortable(result, signal);
  }

  /** Ends every process; images under way reject. Any number of times. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#decoders].map((decoder) => decoder.kill()));
  }

  /** A decoder's death may be nothing but bad luck, such as a machine out of memory: a second one is the image's. */
  async #decode(bytes: Buffer, frames: number): Promise<NormalImage | ItemError> {
    const first = await this.#attempt(bytes, frames);
    if (!('died' in first)) return first;
    const second = await this.#attempt(bytes, frames);
    return 'died' in second ? second.died : second;
  }

  async #attempt(
    bytes: Buffer,
    frames: number,
  ): Promise<NormalImage | ItemError | { readonly died: ItemError }> {
    this.#throwIfClosed();
    const decoder = this.#takeIdle() ?? this.#start();
    const result = await decoder.normalize(bytes, frames);
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
    const decoder = DecoderProcess.start({ memory: this.#memory, limits: this.#limits });
    this.#decoders.add(decoder);
    return decoder;
  }

  #throwIfClosed(): void {
    if (this.#isClosed) throw new Error('the normalizer was closed');
  }
}
