import { WaitList, type TurnTaken } from '../../flow/wait-list.ts';

/**
 * How work may run: `shared` concurrently, `suspect` beside shared work but one at a time, and `alone` with nothing else
 * in this process.
 */
type Mode = 'shared' | 'suspect' | 'alone';

/**
 * Runs work by its mode. When the process dies while work runs alone, that work is the cause. Work that waits to run alone
 * blocks later arrivals, so it is not starved.
 */
export class Isolation {
  readonly #waiting = new WaitList();
  /** Number of running tasks, including the suspect. */
  #shared = 0;
  #suspect = false;
  #alone = false;

  /** Runs work as soon as its mode allows, in order of arrival. Rejects with the signal's reason when aborted first. */
  async run<T>(mode: Mode, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#waiting.wait(() => this.#take(mode), signal);
    try {
      return await work();
    } finally {
      this.#leave(mode);
    }
  }

  #take(mode: Mode): TurnTaken {
    if (this.#alone || (mode === 'alone' && this.#shared > 0)) return 'blocked';
    if (mode === 'suspect' && this.#suspect) return 'skipped';
    if (mode === 'alone') this.#alone = true;
    else {
      this.#shared++;
      if (mode === 'suspect') this.#suspect = true;
    }
    return 'taken';
  }

  #leave(mode: Mode): void {
    if (mode === 'alone') this.#alone = false;
    else {
      this.#shared--;
      if (mode === 'suspect') this.#suspect = false;
    }
    this.#waiting.offerTurns();
  }
}
