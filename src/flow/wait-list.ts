/**
 * Result of an offered turn. `taken`: the waiter took what it was waiting for. `skipped`: it cannot go on yet, but
 * those behind it may. `blocked`: neither it nor those behind it can go on yet.
 */
export type TurnTaken = 'taken' | 'skipped' | 'blocked';

interface Waiter {
  readonly take: () => TurnTaken;
  readonly signal: AbortSignal;
  readonly resolve: () => void;
}

/**
 * Callers waiting for their turn at something shared, first come, first served. The list decides nothing: each waiter
 * brings a function that takes its turn if it can.
 *
 * - `take` checks and takes in one synchronous step, so what one waiter took is seen by the next. It must not throw,
 *   and must not call back into the list.
 * - No wakeup is lost: the list offers turns when a waiter arrives and when one is aborted; its owner calls
 *   `offerTurns` after every other change that may let a waiter go on.
 * - A waiter leaves the list once, by taking its turn or by its signal. `take` is never called after the signal was
 *   aborted, even when several waiters share the signal.
 * - A signal may still be aborted between the turn and the code that awaits it: the turn is then the caller's to give
 *   back.
 * - The list is bounded by its callers: each waits in it once at a time.
 */
export class WaitList {
  /** In order of arrival. */
  readonly #waiters = new Set<Waiter>();

  /** Resolves once `take` returned `taken`, at once if it can. Rejects with the signal's reason when aborted first. */
  wait(take: () => TurnTaken, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const onAbort = (): void => {
        this.#waiters.delete(waiter);
        reject(signal.reason as Error);
        this.offerTurns();
      };
      const waiter: Waiter = {
        take,
        signal,
        resolve: () => {
          signal.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      this.#waiters.add(waiter);
      this.offerTurns();
      if (this.#waiters.has(waiter)) signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Offers every waiter its turn, in order of arrival, until one blocks those behind it. */
  offerTurns(): void {
    for (const waiter of this.#waiters) {
      // Its own listener has not run yet; it will remove the waiter.
      if (waiter.signal.aborted) continue;
      const turn = waiter.take();
      if (turn === 'blocked') return;
      if (turn === 'skipped') continue;
      this.#waiters.delete(waiter);
      waiter.resolve();
    }
  }
}
