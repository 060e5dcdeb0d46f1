/**
 * Limits the number of concurrent evaluations; the others run in order of arrival, so streams neither fill the queue of
 * the model nor overtake each other. At most one evaluation of each open stream waits.
 */
export class EvaluationSlots {
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(max: number) {
    this.#free = max;
  }

  /** Calls `run` when a slot is free, never within this call. The returned function frees the slot or stops waiting. */
  take(run: () => void): () => void {
    let isOver = false;
    const start = (): void =>
      queueMicrotask(() => {
        if (!isOver) run();
      });
    if (this.#free > 0) {
      this.#free--;
      start();
    } else this.#waiting.add(start);
    return () => {
      if (isOver) return;
      isOver = true;
      if (!this.#waiting.delete(start)) this.#next();
    };
  }

  #next(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#free++;
    else {
      this.#waiting.delete(next);
      next();
    }
  }
}
