import { Failure } from '../../domain/failure.ts';
import type { Say } from '../../domain/say.ts';
import { notifyWhenSlow } from '../../domain/start-notice.ts';
import type { Endpoint } from '../endpoint/endpoint.ts';

/** Once one guard is ready, how long the start waits for the others, in milliseconds. */
const OTHERS_TIMEOUT_MS = 5000;

export interface StartOptions {
  /** How long to wait for guards, in milliseconds. */
  readonly timeoutMs: number;
  /** Start of the wait, by `performance.now()`. */
  readonly startedAt: number;
  /** Takes one message for users when the start takes long. */
  readonly say: Say;
}

/** The start of a pool: waits until enough of its endpoints are ready. */
export class PoolStart {
  #reject: ((failure: Failure) => void) | null = null;

  /** Ends the wait with a failure. Does nothing when the start is over. */
  refuse(failure: Failure): void {
    this.#reject?.(failure);
  }

  /** Starts the endpoints and waits as `connectGuards` describes. */
  async run(
    endpoints: readonly Endpoint[],
    { timeoutMs, startedAt, say }: StartOptions,
    signal: AbortSignal,
  ): Promise<void> {
    signal.throwIfAborted();
    const missing = (): string | null => (anyUsable(endpoints) ? null : describeUnusable(endpoints));
    const endNotice = notifyWhenSlow({ subject: 'a guard', limitMs: timeoutMs, missing, say });
    const timers: NodeJS.Timeout[] = [];
    let over = false;
    let abort = (): void => {};
    try {
      await new Promise<void>((resolve, reject) => {
        abort = (): void => reject(signal.reason as Error);
        signal.addEventListener('abort', abort, { once: true });
        this.#reject = reject;
        const timeout = (): void => {
          if (anyUsable(endpoints)) resolve();
          else reject(noneUsable(endpoints, timeoutMs));
        };
        timers.push(setTimeout(timeout, startedAt + timeoutMs - performance.now()));
        let starting = endpoints.length;
        const started = (): void => {
          // An endpoint's start also ends when it is closed, and may end after the wait is over.
          if (over) return;
          if (--starting === 0) resolve();
          else timers.push(setTimeout(resolve, OTHERS_TIMEOUT_MS));
        };
        for (const endpoint of endpoints) endpoint.start().then(started, reject);
      });
    } finally {
      over = true;
      endNotice();
      this.#reject = null;
      for (const timer of timers) clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    }
  }
}

/** Whether verdicts can be expected from any endpoint. */
export function anyUsable(endpoints: readonly Endpoint[]): boolean {
  return endpoints.some(({ dispatcher }) => dispatcher?.isUsable === true);
}

/** Explains why each endpoint is not usable. None of them may be usable. */
export function describeUnusable(endpoints: readonly Endpoint[]): string {
  return endpoints
    .map(({ name, state }) => `${name}: ${state.name === 'out' ? state.detail : 'overloaded'}`)
    .join('; ');
}

export function noneUsable(endpoints: readonly Endpoint[], waitedMs: number): Failure {
  const seconds = Math.round(waitedMs / 100) / 10;
  return new Failure('service', `no guard became usable within ${seconds} s: ${describeUnusable(endpoints)}`);
}
