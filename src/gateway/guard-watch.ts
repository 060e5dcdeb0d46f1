import type { EndpointStatus } from '../guard/endpoint/endpoint-status.ts';
import type { GuardPool } from '../guard/pool/pool.ts';
import { ApiError } from './api/errors.ts';

interface GuardWatchOptions {
  /** How long requests wait for a guard to come back, in milliseconds. */
  readonly graceMs: number;
  /** Called when no guard has come back in time, with the answer for all open requests. */
  readonly down: (answer: ApiError) => void;
}

/**
 * Knows whether any guard is ready.
 *
 * ```
 * ready ── last guard goes out ──► grace ── graceMs later ──► down
 *   ▲                                │                          │
 *   └──────────── a guard is ready ──┴──────────────────────────┘
 * ```
 *
 * In `grace` requests wait; when it is over they are answered, and new ones at once.
 */
export class GuardWatch {
  readonly #pool: GuardPool;
  readonly #options: GuardWatchOptions;
  readonly #stop: () => void;
  #timer: NodeJS.Timeout | null = null;
  #isDown = false;

  constructor(pool: GuardPool, options: GuardWatchOptions) {
    this.#pool = pool;
    this.#options = options;
    this.#stop = pool.onStateChange((endpoints) => this.#look(endpoints));
    this.#look(pool.status());
  }

  get isReady(): boolean {
    return anyReady(this.#pool.status());
  }

  /** The answer to every request while no guard is ready; null while requests may be admitted. */
  get refusal(): ApiError | null {
    return this.#isDown ? answerOf(this.#pool.status()) : null;
  }

  close(): void {
    this.#stop();
    this.#clearTimer();
  }

  #look(endpoints: readonly EndpointStatus[]): void {
    if (anyReady(endpoints)) {
      this.#clearTimer();
      this.#isDown = false;
    } else if (!this.#isDown) {
      this.#timer ??= setTimeout(() => this.#goDown(), this.#options.graceMs);
    }
  }

  #goDown(): void {
    this.#timer = null;
    this.#isDown = true;
    this.#options.down(answerOf(this.#pool.status()));
  }

  #clearTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}

function anyReady(endpoints: readonly EndpointStatus[]): boolean {
  return endpoints.some(({ state }) => state.name === 'ready');
}

function answerOf(endpoints: readonly EndpointStatus[]): ApiError {
  const limited =
    endpoints.length > 0 &&
    endpoints.every(({ state }) => state.name === 'out' && state.reason === 'rate limited');
  return limited
    ? new ApiError('GUARD_OVERLOADED', 'every guard limits the rate of requests')
    : new ApiError('GUARD_UNAVAILABLE', 'no guard is ready');
}
