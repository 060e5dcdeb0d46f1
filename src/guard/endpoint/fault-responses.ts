import type { ItemCode } from '../../domain/item-error.ts';
import { backoffMs, retryMs } from '../../flow/backoff.ts';
import { type Fault, isTimeout } from '../protocol/call-error.ts';
import type { ConcurrencyPolicy } from '../concurrency/concurrency.ts';
import type { OwnedTasks } from '../tasks/owned-tasks.ts';
import type { DispatcherHooks } from './dispatcher-hooks.ts';
import type { Overloads } from '../concurrency/overloads.ts';
import type { Proof, Liveness } from './liveness.ts';
import type { Flight, Sender } from './sender.ts';
import { MAX_ATTEMPTS, type Task } from '../tasks/task.ts';

/** A guard that asks to be left alone for longer is taken out, so that its work can go elsewhere. */
const MAX_PAUSE_MS = 10_000;

export interface FaultResponsesOptions {
  readonly concurrency: ConcurrencyPolicy;
  readonly requestTimeoutMs: number;
  readonly sender: Sender;
  readonly ownedTasks: OwnedTasks;
  readonly proof: Liveness;
  readonly overloads: Overloads;
  readonly down: DispatcherHooks['down'];
  /** The guard answered the request of a flight, if only with a refusal that names its reason. */
  readonly answered: (flight: Flight) => void;
  /** The guard judged something. */
  readonly succeeded: () => void;
}

/** What a fault of one request means for its tasks, and for the endpoint: another form, a try less, an error, a pause. */
export class FaultResponses {
  readonly #options: FaultResponsesOptions;
  readonly #ownedTasks: OwnedTasks;
  #stopped = false;

  constructor(options: FaultResponsesOptions) {
    this.#options = options;
    this.#ownedTasks = options.ownedTasks;
  }

  /** Nothing more is to be done for tasks: they go elsewhere. */
  stop(): void {
    this.#stopped = true;
  }

  /** Resolves when the flight's tasks are settled, on their way again, or another endpoint's. */
  async failed(flight: Flight, fault: Fault): Promise<void> {
    const { down, answered } = this.#options;
    const tasks = flight.tasks.filter((task) => !task.abandoned);
    const single = flight.tasks.length === 1;
    switch (fault.kind) {
      case 'endpoint':
        down({ reason: fault.reason, reached: fault.reached });
        return;
      case 'fatal':
        down({ reason: fault.reason, fatal: true });
        return;
      case 'too-large':
        if (single) this.#settleErrors(tasks, 'ITEM_TOO_LARGE', true);
        else {
          const maxRows = Math.ceil(flight.tasks.length / 2);
          this.#ownedTasks.sendAgain(tasks, { maxRows }, 'ITEM_TOO_LARGE', 0);
        }
        return;
      case 'execution':
        if (!single) this.#sendAsSingles(tasks, 'GUARD_INTERNAL', 0);
        else if (tasks[0]?.alone === false)
          this.#ownedTasks.sendAgain(tasks, { alone: true }, 'GUARD_INTERNAL', 0);
        else await this.#countAttempt(flight, 'GUARD_INTERNAL');
        return;
      case 'overload':
        await this.#overload(flight, tasks);
        return;
      case 'rate':
        this.#rateLimited(flight, tasks, fault.retryAfterMs ?? 0);
        return;
      case 'refused':
        if (fault.named) answered(flight);
        if (!single) this.#sendAsSingles(tasks, fault.code, 0);
        else if (fault.named) this.#settleErrors(tasks, fault.code, true);
        else await this.#refused(flight, fault.code);
        return;
      case 'attempt':
        if (isTimeout(fault)) await this.#timedOut(flight, tasks);
        else await this.#countAttempt(flight, fault.code);
        return;
    }
  }

  /** The guard answered, but for these of the flight's tasks not with a verdict. */
  async invalid(flight: Flight, tasks: readonly Task[]): Promise<void> {
    if (flight.tasks.length > 1) this.#sendAsSingles(tasks, 'INVALID_REPLY', 0);
    else await this.#refused(flight, 'INVALID_REPLY');
  }

  /** A refusal that names no reason: believed only if the guard judges other content. */
  async #refused(flight: Flight, code: ItemCode): Promise<void> {
    const judges = await this.#judgesOthers(flight);
    if (judges === 'yes') this.#settleErrors(flight.tasks, code, true);
    else if (judges === 'unclear') this.#sendAlone(flight.tasks, code);
  }

  /** A failure that may pass: a batch is taken apart, an item has one try less, if the guard judges other content. */
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
    if (task.attempts >= MAX_ATTEMPTS) this.#ownedTasks.settleError(task, code, false);
    else this.#ownedTasks.sendAgain([task], { maxRows: 1 }, code, retryMs(task.attempts));
  }

  /**
   * It may have waited behind another request, which the guard may still be working on. So nothing is sent until something
   * is answered, less is sent at a time, and only an item that is not answered in time alone in flight has used a try.
   */
  async #timedOut(flight: Flight, tasks: readonly Task[]): Promise<void> {
    const { proof, sender, concurrency, ownedTasks, requestTimeoutMs } = this.#options;
    const alone = sender.isExclusive(flight);
    const overtaken = proof.overtook(flight.sentAt);
    if (!alone && !overtaken && !proof.doubted) concurrency.overloaded();
    proof.timedOut();
    const judges = await this.#judgesOthers(flight, proof.successes);
    if (judges === 'no') return;
    sender.land(flight);
    if (judges === 'unclear' && alone) {
      this.#sendAlone(tasks, 'TIMEOUT');
      return;
    }
    // What others sent to the same guard should not find it occupied each time that they try again.
    const tries = 1 + (tasks[0]?.attempts ?? 0);
    const delayMs = alone ? backoffMs(tries, requestTimeoutMs / 20, requestTimeoutMs / 4) : retryMs(1);
    ownedTasks.timedOut(tasks, overtaken, delayMs);
  }

  /** Less at a time, and a pause. Only what was alone in flight can have been too much by itself. */
  async #overload(flight: Flight, tasks: readonly Task[]): Promise<void> {
    const { sender, proof } = this.#options;
    const alone = sender.flights.size === 0 && proof.successes === flight.successes;
    this.#slowDown(flight, 0);
    if (alone && (await this.#judgesOthers(flight)) === 'yes') {
      await this.#countAttempt(flight, 'GUARD_OVERLOADED');
    } else {
      this.#ownedTasks.sendAgain(tasks, {}, 'GUARD_OVERLOADED', 0);
    }
  }

  /** Too many requests, whichever they were: never a try of an item. A long wait is spent on other endpoints. */
  #rateLimited(flight: Flight, tasks: readonly Task[], retryAfterMs: number): void {
    if (retryAfterMs > MAX_PAUSE_MS) {
      this.#options.down({ reason: 'rate limited', leaveAloneMs: retryAfterMs });
      return;
    }
    this.#slowDown(flight, retryAfterMs);
    this.#ownedTasks.sendAgain(tasks, {}, 'GUARD_OVERLOADED', 0);
  }

  /** Less at a time, after a pause of at least so long. */
  #slowDown(flight: Flight, atLeastMs: number): void {
    const { overloads, concurrency, sender } = this.#options;
    const inRow = overloads.count(flight.sentAt);
    if (inRow !== null) concurrency.overloaded();
    if (inRow !== null || atLeastMs > 0) sender.pause(atLeastMs + (inRow === null ? 0 : retryMs(inRow)));
  }

  /**
   * Whether the guard has judged other content than this flight's since it had judged so many requests, or judges some
   * now; takes the endpoint out when it does not.
   */
  async #judgesOthers(flight: Flight, since = flight.successes): Promise<'yes' | 'no' | 'unclear'> {
    const { proof, sender, down, succeeded } = this.#options;
    let found: Proof;
    try {
      found = await proof.since(since, sender.isExclusive(flight));
    } catch (error) {
      if (this.#stopped) return 'no';
      throw error;
    }
    if (this.#stopped) return 'no';
    if (found.kind === 'dead') {
      const { reason, fatal, reached } = found;
      down({ reason, fatal, reached });
      return 'no';
    }
    if (found.kind === 'unclear') return 'unclear';
    if (proof.successes === since) succeeded();
    return 'yes';
  }

  #sendAsSingles(tasks: readonly Task[], cause: ItemCode, afterMs: number): void {
    this.#ownedTasks.sendAgain(tasks, { maxRows: 1 }, cause, afterMs);
  }

  #sendAlone(tasks: readonly Task[], cause: ItemCode): void {
    this.#ownedTasks.sendAgain(tasks, { alone: true }, cause, retryMs(1));
  }

  #settleErrors(tasks: readonly Task[], code: ItemCode, counted: boolean): void {
    for (const task of tasks) this.#ownedTasks.settleError(task, code, counted);
  }
}
