import type { Outcome } from '../../domain/outcome.ts';
import type { TaskOwner } from './task.ts';

/** One call of `judge`: collects the outcomes of its requests, which arrive in any order. */
export class Judging implements TaskOwner {
  readonly promise: Promise<Outcome[]>;
  readonly #outcomes: Outcome[];
  #missing: number;
  #over = false;
  #resolve!: (outcomes: Outcome[]) => void;
  #reject!: (error: unknown) => void;

  constructor(requests: number) {
    this.#outcomes = new Array<Outcome>(requests);
    this.#missing = requests;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Whether the call has been answered, so that its remaining tasks need not be judged. */
  get over(): boolean {
    return this.#over;
  }

  settle(index: number, outcome: Outcome): void {
    if (this.#over) return;
    this.#outcomes[index] = outcome;
    if (--this.#missing > 0) return;
    this.#over = true;
    this.#resolve(this.#outcomes);
  }

  fail(error: unknown): void {
    if (this.#over) return;
    this.#over = true;
    this.#reject(error);
  }
}
