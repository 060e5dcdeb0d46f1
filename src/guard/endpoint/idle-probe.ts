import { CallError } from '../protocol/call-error.ts';
import type { ReadyGuard } from '../protocol/connection.ts';
import { notUsable, NotUsable } from '../protocol/not-usable.ts';
import type { Outage } from './events.ts';

/** How long a guard may do nothing before it is asked whether it is ready, and how long it may take to answer. */
const PERIOD_MS = 4000;
const TIMEOUT_MS = 4000;

interface IdleProbeHooks {
  /** Whether the guard has nothing to do. A busy guard is not asked: its answers show that it is there. */
  isIdle(): boolean;
  down(outage: Outage): void;
  crashed(error: unknown): void;
}

/** Asks an idle guard at intervals whether it is ready, so that an outage is noticed before the next item comes. */
export class IdleProbe {
  readonly #guard: Pick<ReadyGuard, 'isReady'>;
  readonly #hooks: IdleProbeHooks;
  readonly #life = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(guard: Pick<ReadyGuard, 'isReady'>, hooks: IdleProbeHooks) {
    this.#guard = guard;
    this.#hooks = hooks;
    this.#schedule();
  }

  stop(): void {
    this.#life.abort();
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    if (this.#life.signal.aborted) return;
    this.#timer = setTimeout(() => {
      this.#probe().catch((error: unknown) => this.#hooks.crashed(error));
    }, PERIOD_MS);
    this.#timer.unref();
  }

  async #probe(): Promise<void> {
    const outage = this.#hooks.isIdle() ? await this.#ask() : null;
    // Work that came in the meantime shows by itself how the guard is.
    if (outage === null || !this.#hooks.isIdle()) this.#schedule();
    else if (!this.#life.signal.aborted) this.#hooks.down(outage);
  }

  /** Null when the guard is ready, or too busy with the requests of others to say so. */
  async #ask(): Promise<Outage | null> {
    const options = { timeoutMs: TIMEOUT_MS, signal: this.#life.signal };
    try {
      return (await this.#guard.isReady(options)) ? null : { reason: 'not ready' };
    } catch (error) {
      if (this.#life.signal.aborted) return null;
      if (error instanceof CallError && ['rate', 'overload'].includes(error.fault.kind)) return null;
      const what = notUsable(error, options);
      if (!(what instanceof NotUsable)) throw error;
      return { reason: what.reason, fatal: what.fatal };
    }
  }
}
