import type { ConcurrencyPolicy } from '../../../src/guard/concurrency/concurrency.ts';

export interface SimulatedGuardOptions {
  readonly instances: number;
  /** Rows of every request. */
  readonly rows: number;
  /** Milliseconds that an instance works on the next request. */
  readonly serviceMs: () => number;
  /** Milliseconds on the way, there and back together. */
  readonly travelMs: number;
}

/**
 * A guard on a clock of its own, and a client with no end of requests that sends whatever a concurrency policy allows.
 * Answers come in the order of their times; nothing here waits for real.
 */
export class SimulatedGuard {
  now = 0;
  readonly #options: SimulatedGuardOptions;
  readonly #events: { readonly at: number; readonly run: () => void }[] = [];
  /** When the requests were sent that no instance works on yet. */
  readonly #waiting: number[] = [];
  #policy: ConcurrencyPolicy | null = null;
  #busy = 0;
  #inFlight = 0;
  #workedMs = 0;

  constructor(options: SimulatedGuardOptions) {
    this.#options = options;
  }

  /** Lets the client work under the policy for so long. Returns the share of the time in which instances worked. */
  run(policy: ConcurrencyPolicy, ms: number): number {
    this.#policy = policy;
    const begunAt = this.now;
    const workedMs = this.#workedMs;
    const until = begunAt + ms;
    this.#send();
    for (;;) {
      const next = this.#events[0];
      if (next === undefined || next.at > until) break;
      this.#events.shift();
      this.now = next.at;
      next.run();
      this.#send();
    }
    this.now = until;
    return (this.#workedMs - workedMs) / (ms * this.#options.instances);
  }

  #send(): void {
    const { rows, travelMs } = this.#options;
    while (this.#inFlight === 0 || this.#inFlight + rows <= this.#policy!.limit) {
      this.#inFlight += rows;
      const sentAt = this.now;
      this.#after(travelMs / 2, () => {
        this.#waiting.push(sentAt);
        this.#work();
      });
    }
  }

  #work(): void {
    while (this.#busy < this.#options.instances && this.#waiting.length > 0) {
      const sentAt = this.#waiting.shift()!;
      const ms = this.#options.serviceMs();
      this.#busy++;
      this.#after(ms, () => {
        this.#busy--;
        this.#workedMs += ms;
        this.#work();
        this.#after(this.#options.travelMs / 2, () => this.#answered(sentAt));
      });
    }
  }

  #answered(sentAt: number): void {
    const { rows } = this.#options;
    this.#inFlight -= rows;
    this.#policy!.completed({ rows, latencyMs: this.now - sentAt, supplied: true });
  }

  #after(ms: number, run: () => void): void {
    const at = this.now + ms;
    this.#events.splice(this.#events.findLastIndex((event) => event.at <= at) + 1, 0, { at, run });
  }
}
