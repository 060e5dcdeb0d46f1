import { setTimeout as sleep } from 'node:timers/promises';
import { CallError } from '../protocol/call-error.ts';
import { type CanaryResult, tryHarmlessText } from '../protocol/canary.ts';
import type { CallOptions, ReadyGuard } from '../protocol/connection.ts';
import { notUsable, NotUsable } from '../protocol/not-usable.ts';
import type { EndpointEvents, Outage } from './events.ts';
import type { Flight } from './in-flight.ts';

/** How long a guard may be idle before it is checked, and how long a check may take. */
const IDLE_MS = 4000;
const CHECK_TIMEOUT_MS = 4000;

/** Whether the guard judges other content. `unclear`: the test failed, but another request may be the cause. */
export type Proof = 'yes' | 'unclear' | Outage;

interface GuardHealthOptions {
  readonly guard: Pick<ReadyGuard, 'isReady' | 'judge' | 'takes'>;
  /** Options for harmless texts. Its signal ends the checks. */
  readonly calls: CallOptions;
  /** Whether the guard has nothing to do. */
  readonly isIdle: () => boolean;
  /** Whether more requests like this one could be sent now if the limit allowed it. */
  readonly isSupplied: (flight: Flight) => boolean;
  readonly events: Pick<EndpointEvents, 'judged' | 'down' | 'crashed'>;
}

/**
 * Distinguishes a guard that judges nothing from a request that it cannot judge. Answers show that the guard judges;
 * without any, it is asked to judge a harmless text. A guard that does not answer in time, or is idle, is first asked
 * whether it is ready. That takes little time, so a guard that hangs is out of use soon after its first request has
 * timed out, and one that goes away while idle is out of use before the next item comes.
 */
export class GuardHealth {
  readonly #options: GuardHealthOptions;
  #test: Promise<CanaryResult> | null = null;
  #successes = 0;
  /** Set initially because the guard answered when it was connected. */
  #answeredAt = performance.now();
  #latestSentAt = Number.NEGATIVE_INFINITY;
  #isDoubted = false;
  #overloads = 0;
  #overloadedAt = 0;

  constructor(options: GuardHealthOptions) {
    this.#options = options;
    this.#watchIdle().catch((error: unknown) => options.events.crashed(error));
  }

  /** Requests answered with verdicts or with a refusal that names its reason, and harmless texts judged. */
  get successes(): number {
    return this.#successes;
  }

  /** Time of its last answer to a request or a check, by `performance.now()`. */
  get answeredAt(): number {
    return this.#answeredAt;
  }

  /**
   * Whether nothing has been answered since a request timed out. The guard may still be working on that request
   * although its call has ended, and anything sent now would wait behind it.
   */
  get isDoubted(): boolean {
    return this.#isDoubted;
  }

  /** Whether it has rejected everything as overload since it last judged something. */
  get isOverloaded(): boolean {
    return this.#overloads > 0;
  }

  /** Called when a request was answered with verdicts, or with a refusal that names its reason. */
  answered(flight: Flight): void {
    const { rows, concurrency, sentAt } = flight;
    const latencyMs = performance.now() - sentAt;
    concurrency.completed({ rows, latencyMs, supplied: this.#options.isSupplied(flight) });
    this.judged(sentAt);
  }

  /**
   * Called when the guard judged a request sent at `sentAt` (by `performance.now()`), or the harmless text if omitted.
   */
  judged(sentAt = Number.NEGATIVE_INFINITY): void {
    this.#successes++;
    this.#answeredAt = performance.now();
    this.#latestSentAt = Math.max(this.#latestSentAt, sentAt);
    this.#isDoubted = false;
    this.#overloads = 0;
    this.#options.events.judged();
  }

  timedOut(): void {
    this.#isDoubted = true;
  }

  /**
   * Whether a later request has been answered: if so, one sent at `sentAt` is not just waiting in the guard's queue.
   */
  hasOvertaken(sentAt: number): boolean {
    return this.#latestSentAt > sentAt;
  }

  /**
   * Counts a request sent at `sentAt` (by `performance.now()`) that was rejected as overload. Requests in flight
   * together count as one overload: returns null for all but the first of them, otherwise the number of consecutive
   * overloads.
   */
  countOverload(sentAt: number): number | null {
    if (sentAt < this.#overloadedAt) return null;
    this.#overloadedAt = performance.now();
    return ++this.#overloads;
  }

  /**
   * `yes` if there were more than `since` successes; otherwise the guard is tested, and concurrent calls share one
   * test. `alone` means that nothing else is in flight, so the guard itself is to blame if the test fails. Rejects when
   * the test is aborted.
   */
  async judgesOthers(since: number, alone: boolean): Promise<Proof> {
    if (this.#successes > since) return 'yes';
    this.#test ??= this.#runTest().finally(() => (this.#test = null));
    const result = await this.#test;
    if (this.#successes > since) return 'yes';
    if (result.kind === 'failed') return result;
    this.#isDoubted = false;
    if (result.kind === 'judged') {
      this.judged();
      return 'yes';
    }
    return alone && result.kind === 'shared-failure' ? { reason: 'fails on harmless text' } : 'unclear';
  }

  async #runTest(): Promise<CanaryResult> {
    const { guard, calls } = this.#options;
    const outage = this.#isDoubted ? await this.#findOutage() : null;
    if (outage === null) return tryHarmlessText(guard, calls);
    const { reason, fatal = false } = outage;
    return { kind: 'failed', reason, fatal, reached: true };
  }

  async #watchIdle(): Promise<void> {
    const { calls, isIdle, events } = this.#options;
    const { signal } = calls;
    while (!signal.aborted) {
      await sleep(IDLE_MS, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted || !isIdle()) continue;
      const outage = await this.#findOutage();
      // Work that arrived in the meantime shows the guard's health by itself.
      if (outage !== null && isIdle()) events.down(outage);
    }
  }

  /** Null if the guard is ready, or too busy with the requests of other clients to say so. */
  async #findOutage(): Promise<Outage | null> {
    const { guard, calls } = this.#options;
    const { signal } = calls;
    const options = { timeoutMs: Math.min(CHECK_TIMEOUT_MS, calls.timeoutMs), signal };
    try {
      if (!(await guard.isReady(options))) return { reason: 'not ready' };
      this.#answeredAt = performance.now();
      return null;
    } catch (error) {
      if (signal.aborted) return null;
      if (error instanceof CallError && ['rate', 'overload'].includes(error.fault.kind)) return null;
      const what = notUsable(error, options);
      if (!(what instanceof NotUsable)) throw error;
      return { reason: what.reason, fatal: what.fatal };
    }
  }
}
