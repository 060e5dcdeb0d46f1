import type { ItemCode } from '../../domain/item-error.ts';
import { backoffMs, retryMs } from '../../flow/backoff.ts';
import { type CallError, isTimeout } from '../protocol/call-error.ts';
import type { Barred } from '../protocol/canary.ts';
import type { CallOptions } from '../protocol/connection.ts';
import { MAX_ATTEMPTS, type Task } from '../tasks/task.ts';
import type { BarredRequests } from './barred-requests.ts';
import type { EndpointEvents } from './events.ts';
import type { GuardHealth, Proof } from './guard-health.ts';
import type { Flight, InFlight } from './in-flight.ts';
import type { OwnedTasks } from './owned-tasks.ts';

/**
 * Max pause in milliseconds. A guard that asks for a longer one is taken out of use, and its tasks go to other
 * endpoints.
 */
const MAX_PAUSE_MS = 10_000;
/** Rejections of a request before its items are sent one by one, and then each alone. */
const TURNED_AWAY_BEFORE_ALONE = 3;

interface FaultResponsesOptions {
  readonly inFlight: InFlight;
  readonly tasks: OwnedTasks;
  readonly health: GuardHealth;
  readonly barred: BarredRequests;
  readonly events: Pick<EndpointEvents, 'down'>;
  /** The signal is aborted when the endpoint goes out of use; its tasks then go to other endpoints. */
  readonly calls: CallOptions;
  /** Sends nothing for this many milliseconds. */
  readonly pause: (ms: number) => void;
}

/**
 * Reacts to the fault of a request. Its tasks are resent unchanged, in smaller batches or alone, an attempt is counted,
 * or they end in an error. The endpoint continues, with fewer rows in flight or after a pause, or goes out of use.
 */
export class FaultResponses {
  readonly #options: FaultResponsesOptions;
  readonly #tasks: OwnedTasks;

  constructor(options: FaultResponsesOptions) {
    this.#options = options;
    this.#tasks = options.tasks;
  }

  /** Resolves when the flight's tasks are settled, resent, or handed to another endpoint. */
  async failed(flight: Flight, { fault, answer }: CallError): Promise<void> {
    const { events, health } = this.#options;
    const tasks = flight.tasks.filter((task) => !task.abandoned);
    const single = flight.tasks.length === 1;
    switch (fault.kind) {
      case 'endpoint':
        events.down({ reason: fault.reason, reached: fault.reached });
        return;
      case 'barred':
        await this.#barred(flight, answer);
        return;
      case 'too-large':
        if (single) this.#settleErrors(tasks, 'ITEM_TOO_LARGE', true);
        else {
          const maxRows = Math.ceil(flight.tasks.length / 2);
          this.#tasks.sendAgain(tasks, { maxRows }, 'ITEM_TOO_LARGE', 0);
        }
        return;
      case 'execution':
        if (!single) this.#sendAsSingles(tasks, 'GUARD_INTERNAL', 0);
        else if (tasks[0]?.alone === false)
          this.#tasks.sendAgain(tasks, { alone: true }, 'GUARD_INTERNAL', 0);
        else await this.#countAttempt(flight, 'GUARD_INTERNAL');
        return;
      case 'overload':
        await this.#turnedAway(flight, tasks, null);
        return;
      case 'rate':
        await this.#turnedAway(flight, tasks, fault.retryAfterMs ?? 0);
        return;
      case 'refused':
        if (fault.named) health.answered(flight);
        if (!single) this.#sendAsSingles(tasks, fault.code, 0);
        else if (fault.named) this.#settleErrors(tasks, fault.code, true);
        else await this.#refused(flight, fault.code, fault.code === 'GUARD_REJECTED' ? answer : null);
        return;
      case 'attempt':
        if (isTimeout(fault)) await this.#timedOut(flight, tasks);
        else await this.#countAttempt(flight, fault.code);
        return;
    }
  }

  /** Handles answers to a flight that are not verdicts for these tasks. */
  async invalid(flight: Flight, tasks: readonly Task[]): Promise<void> {
    if (flight.tasks.length > 1) this.#sendAsSingles(tasks, 'INVALID_REPLY', 0);
    else await this.#refused(flight, 'INVALID_REPLY');
  }

  /** Handles a refusal. Without a named reason, it counts only if the guard judges other content. */
  async #refused(flight: Flight, code: ItemCode, answer: string | null = null): Promise<void> {
    const judges = await this.#judgesOthers(flight);
    if (judges === 'yes') this.#settleErrors(flight.tasks, code, true, answer);
    else if (judges === 'unclear') this.#sendAlone(flight.tasks, code);
  }

  /** Blames the item if other items are judged, otherwise the endpoint. */
  async #barred(flight: Flight, answer: string): Promise<void> {
    const { barred, health, events } = this.#options;
    let found: Barred;
    try {
      found = await barred.find(flight.tasks[0]!.requestKind);
    } catch (error) {
      if (this.#isStopped) return;
      throw error;
    }
    if (this.#isStopped) return;
    if (found.kind === 'failed') {
      events.down(found);
      return;
    }
    if (found.kind === 'item' || found.kind === 'kind') health.judged();
    const tasks = flight.tasks.filter((task) => !task.abandoned);
    if (found.kind === 'kind') this.#settleErrors(tasks, 'PROBE_NOT_LOADED', true, answer);
    else if (flight.tasks.length > 1) this.#sendAsSingles(tasks, 'GUARD_REJECTED', 0);
    else if (found.kind === 'item') this.#settleErrors(tasks, 'GUARD_REJECTED', true, answer);
    else this.#tasks.sendAgain(tasks, {}, 'GUARD_OVERLOADED', retryMs(1));
  }

  /**
   * Handles a retryable failure. If the guard judges other content, a batch is split into single requests, and a single
   * request counts as an attempt.
   */
  async #countAttempt(flight: Flight, code: ItemCode): Promise<void> {
    const judges = await this.#judgesOthers(flight);
    if (judges === 'no') return;
    if (flight.tasks.length > 1) {
      this.#sendAsSingles(flight.tasks, code, retryMs(1));
      return;
    }
    if (judges === 'unclear') {
      this.#sendAlone(flight.tasks, code);
      return;
    }
    const task = flight.tasks[0]!;
    task.attempts++;
    if (task.attempts >= MAX_ATTEMPTS) this.#tasks.settleError(task, code, false);
    else this.#tasks.sendAgain([task], { maxRows: 1 }, code, retryMs(task.attempts));
  }

  /**
   * Handles a timeout. The request may have waited behind another one, which the guard may still be working on after
   * its call has ended. So nothing is sent until something is answered, the limit is lowered, and a timeout counts as
   * an attempt only for an item that was alone in flight.
   */
  async #timedOut(flight: Flight, tasks: readonly Task[]): Promise<void> {
    const { health, inFlight, calls } = this.#options;
    const alone = inFlight.exclusive === flight;
    const overtaken = health.hasOvertaken(flight.sentAt);
    if (!alone && !overtaken && !health.isDoubted) flight.concurrency.overloaded();
    health.timedOut();
    const judges = await this.#judgesOthers(flight, health.successes);
    if (judges === 'no') return;
    inFlight.complete(flight);
    if (judges === 'unclear' && alone) {
      this.#sendAlone(tasks, 'TIMEOUT');
      return;
    }
    // Other clients of the same guard must not find it occupied whenever they retry.
    const attempt = 1 + (tasks[0]?.attempts ?? 0);
    const delayMs = alone ? backoffMs(attempt, calls.timeoutMs / 20, calls.timeoutMs / 4) : retryMs(1);
    this.#tasks.timedOut(tasks, overtaken, delayMs);
  }

  /**
   * Handles an overload, or a rate limit (`pauseMs` not null): lowers the limit and pauses, or lets other endpoints
   * take over during a long pause. It counts as an attempt only for a request that was alone in flight, and only if the
   * guard judges a harmless text now: nothing else can then have been the cause. A request that is rejected repeatedly
   * by a rate limit is sent alone to find out; before that, it costs no attempt.
   */
  async #turnedAway(flight: Flight, tasks: readonly Task[], pauseMs: number | null): Promise<void> {
    const { inFlight, health, events } = this.#options;
    const isAlone = inFlight.flights.size === 0 && health.successes === flight.successes;
    const isLong = pauseMs !== null && pauseMs > MAX_PAUSE_MS;
    const [first] = tasks;
    const isSuspect = pauseMs === null || first?.alone === true;
    if (!isLong) this.#slowDown(flight, pauseMs ?? 0);
    if (isAlone && isSuspect && (await this.#judgesOthers(flight)) === 'yes') {
      await this.#countAttempt(flight, 'GUARD_OVERLOADED');
      return;
    }
    if (this.#isStopped) return;
    if (first !== undefined && (isLong || ++first.turnedAway >= TURNED_AWAY_BEFORE_ALONE)) {
      for (const task of tasks) {
        task.alone = flight.tasks.length === 1;
        task.maxRows = 1;
      }
    }
    if (isLong) events.down({ reason: 'rate limited', retryAfterMs: pauseMs });
    else this.#tasks.sendAgain(tasks, {}, 'GUARD_OVERLOADED', 0);
  }

  /** Lowers the limit, and pauses for at least `atLeastMs`. */
  #slowDown(flight: Flight, atLeastMs: number): void {
    const { health, pause } = this.#options;
    const inRow = health.countOverload(flight.sentAt);
    if (inRow !== null) flight.concurrency.overloaded();
    if (inRow !== null || atLeastMs > 0) pause(atLeastMs + (inRow === null ? 0 : retryMs(inRow)));
  }

  /**
   * Whether the guard judges content other than this flight's: it has had successes since `since`, or it judges a
   * harmless text now. Takes the endpoint out of use when it does not.
   */
  async #judgesOthers(flight: Flight, since = flight.successes): Promise<'yes' | 'no' | 'unclear'> {
    const { health, inFlight, events } = this.#options;
    let proof: Proof;
    try {
      proof = await health.judgesOthers(since, inFlight.exclusive === flight);
    } catch (error) {
      if (this.#isStopped) return 'no';
      throw error;
    }
    if (this.#isStopped) return 'no';
    if (typeof proof === 'string') return proof;
    events.down(proof);
    return 'no';
  }

  get #isStopped(): boolean {
    return this.#options.calls.signal.aborted;
  }

  #sendAsSingles(tasks: readonly Task[], cause: ItemCode, afterMs: number): void {
    this.#tasks.sendAgain(tasks, { maxRows: 1 }, cause, afterMs);
  }

  #sendAlone(tasks: readonly Task[], cause: ItemCode): void {
    this.#tasks.sendAgain(tasks, { alone: true }, cause, retryMs(1));
  }

  #settleErrors(
    tasks: readonly Task[],
    code: ItemCode,
    counted: boolean,
    answer: string | null = null,
  ): void {
    for (const task of tasks) this.#tasks.settleError(task, code, counted, answer);
  }
}
