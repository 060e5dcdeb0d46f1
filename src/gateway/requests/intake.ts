import { Admission } from '../../flow/admission.ts';
import { ByteBudget } from '../../flow/byte-budget.ts';
import { ApiError } from '../api/errors.ts';
import { MAX_TEXT_BYTES_IN_MEMORY, MAX_UPLOAD_BYTES_ON_DISK, QUEUE_TIMEOUT_MS } from '../limits.ts';

/** The declared content of a request. */
export interface Arriving {
  readonly kind: 'text' | 'media';
  /** Declared size of the body, or the limit if none is declared. */
  readonly bytes: number;
}

/**
 * Limits the concurrent requests, and the bytes of their bodies, before a body is read. As many again may wait for a
 * short time; all others are rejected at once.
 */
export class Intake {
  readonly #maxWaiting: number;
  readonly #slots: Admission;
  readonly #bytes = {
    text: new ByteBudget(MAX_TEXT_BYTES_IN_MEMORY),
    media: new ByteBudget(MAX_UPLOAD_BYTES_ON_DISK),
  };
  #waiting = 0;

  constructor(maxConcurrency: number) {
    this.#maxWaiting = maxConcurrency;
    this.#slots = new Admission(maxConcurrency, () => true);
  }

  /** Requests that wait for admission. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Resolves when the request is admitted, with the function that makes room for the next. Rejects with
   * ApiError('TOO_MANY_REQUESTS'), or with the signal's reason.
   */
  async enter({ kind, bytes }: Arriving, signal: AbortSignal): Promise<() => void> {
    if (this.#waiting >= this.#maxWaiting) throw full();
    this.#waiting++;
    const tooLong = new AbortController();
    const timer = setTimeout(() => tooLong.abort(full()), QUEUE_TIMEOUT_MS);
    const waiting = AbortSignal.any([signal, tooLong.signal]);
    try {
      const permit = await this.#slots.enter(1, waiting);
      try {
        await this.#bytes[kind].enter(bytes, waiting);
      } catch (error) {
        permit.release();
        throw error;
      }
      return () => {
        permit.release();
        this.#bytes[kind].leave(bytes);
      };
    } finally {
      clearTimeout(timer);
      this.#waiting--;
    }
  }
}

function full(): ApiError {
  return new ApiError('TOO_MANY_REQUESTS', 'too many requests at a time');
}
