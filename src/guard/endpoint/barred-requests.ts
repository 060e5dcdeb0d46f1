import { setTimeout as sleep } from 'node:timers/promises';
import { type Barred, findBarred } from '../protocol/canary.ts';
import type { CallOptions, ReadyGuard } from '../protocol/connection.ts';
import type { RequestKind } from '../tensors/encode-request.ts';

/** Min interval between two harmless requests of a kind, in milliseconds. */
const MIN_INTERVAL_MS = 1000;

/**
 * Finds out why requests of one endpoint were barred. Answers from before a request was barred prove nothing, since a
 * key may have been revoked in between. So a harmless request is sent afterwards, for all requests barred by then: at
 * most one per kind at a time, and one per second.
 */
export class BarredRequests {
  readonly #guard: ReadyGuard;
  readonly #options: CallOptions;
  /** Requests not sent yet, by kind. */
  readonly #next = new Map<RequestKind, Promise<Barred>>();
  /** By kind: resolves when the next one may be sent. */
  readonly #free = new Map<RequestKind, Promise<unknown>>();

  constructor(guard: ReadyGuard, options: CallOptions) {
    this.#guard = guard;
    this.#options = options;
  }

  /** Returns why a request of this kind was barred just now. Rejects only when the signal is aborted. */
  find(requestKind: RequestKind): Promise<Barred> {
    let next = this.#next.get(requestKind);
    if (next === undefined) {
      next = this.#send(requestKind);
      this.#next.set(requestKind, next);
    }
    return next;
  }

  async #send(requestKind: RequestKind): Promise<Barred> {
    const { signal } = this.#options;
    await this.#free.get(requestKind);
    signal.throwIfAborted();
    this.#next.delete(requestKind);
    const pause = sleep(MIN_INTERVAL_MS, undefined, { signal }).catch(() => {});
    const found = findBarred(this.#guard, requestKind, this.#options);
    this.#free.set(requestKind, Promise.allSettled([pause, found]));
    return found;
  }
}
