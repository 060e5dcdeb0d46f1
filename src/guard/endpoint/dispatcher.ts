import type { Answer } from '../protocol/answer.ts';
import { CallError, type Fault, isTimeout, type OutReason } from '../protocol/call-error.ts';
import { tryHarmlessText } from '../protocol/canary.ts';
import type { CallOptions, ReadyGuard, Reply } from '../protocol/connection.ts';
import { OwnedTasks } from '../tasks/owned-tasks.ts';
import type { DispatcherHooks, DispatcherOptions, Outage } from './dispatcher-hooks.ts';
import { FaultResponses } from './fault-responses.ts';
import { type PendingVerdicts, verdictOf } from '../versions/pending-verdicts.ts';
import { Overloads } from '../concurrency/overloads.ts';
import { Liveness } from './liveness.ts';
import { ReadingFailures } from '../versions/reading-failures.ts';
import { type Flight, Sender, type Sent } from './sender.ts';
import { type Stamping, Unstamped } from '../versions/stamping.ts';
import type { Task } from '../tasks/task.ts';
import type { Signature } from '../tensors/encode-request.ts';
import { VersionBrackets } from '../versions/version-brackets.ts';

/**
 * Everything that is asked of one endpoint while it is in use goes through its dispatcher: it fills batches across
 * shards, keeps a bounded number in flight, reads versions, and turns each reply into outcomes; what follows from an
 * error is said by `FaultResponses`. When the endpoint goes down the dispatcher is stopped, and its undone tasks go
 * elsewhere.
 */
export class Dispatcher {
  readonly #guard: ReadyGuard;
  readonly #options: DispatcherOptions;
  readonly #hooks: DispatcherHooks;
  readonly #stamping: Stamping<PendingVerdicts>;
  readonly #sender: Sender;
  readonly #ownedTasks: OwnedTasks;
  readonly #faults: FaultResponses;
  /** Ends version readings and canaries. */
  readonly #controller = new AbortController();
  readonly #proof: Liveness;
  readonly #readingFailures = new ReadingFailures();
  readonly #overloads = new Overloads();
  #stopped = false;

  constructor(guard: ReadyGuard, options: DispatcherOptions, hooks: DispatcherHooks) {
    this.#guard = guard;
    this.#options = options;
    this.#hooks = hooks;
    this.#proof = new Liveness(() => tryHarmlessText(guard, this.#callOptions(this.#controller.signal)));
    this.#stamping = this.#makeStamping();
    const { maxBatchSize, concurrency } = guard;
    const { backlog, isOneOfMany } = options;
    const takes = (signature: Signature): boolean => guard.takes(signature);
    this.#sender = new Sender(
      { maxBatchSize, concurrency, backlog, isOneOfMany, takes },
      {
        open: () => !this.#stamping.suspected && !this.#proof.doubted,
        stamp: () => ({ epoch: this.#stamping.epoch, successes: this.#proof.successes }),
        fly: (flight) => this.#fly(flight),
        taken: (tasks) => {
          this.#ownedTasks.take(tasks);
          hooks.taken();
        },
        sent: () => this.#stamping.consider(),
        crashed: (error) => hooks.crashed(error),
      },
    );
    const sender = this.#sender;
    const { endpoint } = options;
    this.#ownedTasks = new OwnedTasks({ endpoint, sender, retried: (cause) => hooks.retried(cause) });
    this.#faults = new FaultResponses({
      concurrency,
      requestTimeoutMs: options.requestTimeoutMs,
      sender,
      ownedTasks: this.#ownedTasks,
      proof: this.#proof,
      overloads: this.#overloads,
      down: (why) => hooks.down(why),
      answered: (flight) => this.#answered(flight),
      succeeded: () => this.#succeeded(),
    });
  }

  #makeStamping(): Stamping<PendingVerdicts> {
    const { version } = this.#guard;
    const hooks = {
      stamped: (held: readonly PendingVerdicts[], id: string | null) => this.#stamped(held, id),
      voided: (held: readonly PendingVerdicts[]) => this.#voided(held),
    };
    if (version === null) return new Unstamped(hooks);
    return new VersionBrackets(version.first, {
      ...hooks,
      read: () => version.read(this.#callOptions(this.#controller.signal)),
      load: () => this.#sender.load,
      accept: (reading) => {
        this.#readingFailures.succeeded();
        if (!this.#hooks.accept(reading)) return false;
        this.#sender.wake();
        return true;
      },
      failed: (error) => this.#readingFailed(error),
    });
  }

  /** Tasks that are not yet settled. */
  get load(): number {
    return this.#ownedTasks.size;
  }

  get inFlight(): number {
    let tasks = 0;
    for (const flight of this.#sender.flights) tasks += flight.tasks.length;
    return tasks;
  }

  /**
   * Whether verdicts can come of it: not while the guard has turned everything away since it last judged something,
   * nor while it cannot say its version, without which no answer becomes a verdict.
   */
  get usable(): boolean {
    return !this.#overloads.any && !this.#readingFailures.any;
  }

  get sent(): Sent {
    return this.#sender.sent;
  }

  /** Takes on a task that is to be judged here and nowhere else, as long as the endpoint is in use. */
  accept(task: Task): void {
    this.#ownedTasks.accept(task);
  }

  /** Something came into the backlog. */
  wake(): void {
    this.#sender.wake();
  }

  /** Gives up what nobody waits for any more. */
  sweep(): void {
    this.#sender.sweep();
    this.#ownedTasks.sweep();
  }

  /**
   * Ends all calls and returns the tasks it had, idle unless that settled them. `outage`: why the endpoint went down; null
   * when it did not. An item that was alone in flight at several such moments ends as an error.
   */
  stop(outage: Outage | null): Task[] {
    this.#stopped = true;
    this.#faults.stop();
    this.#stamping.stop();
    this.#controller.abort();
    this.#sender.stop();
    if (outage?.reached === true) this.#noteOutage(outage.reason);
    return this.#ownedTasks.giveBack();
  }

  #noteOutage(reason: OutReason): void {
    for (const flight of this.#sender.flights) {
      const tasks = flight.tasks.filter((task) => !task.abandoned);
      if (reason === 'no answer in time') this.#ownedTasks.noteSilence(tasks);
      else this.#ownedTasks.noteDrop(tasks);
    }
  }

  async #fly(flight: Flight): Promise<void> {
    let reply: Reply | null = null;
    let fault: Fault | null = null;
    try {
      reply = await this.#guard.judge(flight.tasks, this.#callOptions(flight.controller.signal));
    } catch (error) {
      if (error instanceof CallError) fault = error.fault;
      else if (!flight.controller.signal.aborted) throw error;
    }
    if (this.#stopped) return;
    // The requests that an endpoint takes with it count as in flight until they have been noted as such.
    if (fault === null || !maySilence(fault)) this.#sender.land(flight);
    if (reply !== null) await this.#replied(flight, reply);
    else if (fault !== null) await this.#faults.failed(flight, fault);
  }

  #callOptions(signal: AbortSignal): CallOptions {
    return { timeoutMs: this.#options.requestTimeoutMs, signal };
  }

  async #replied(flight: Flight, { answers, modelVersion }: Reply): Promise<void> {
    const current = this.#stamping.replied(flight.epoch, modelVersion);
    const invalid: Task[] = [];
    const tasks: Task[] = [];
    const valid: Answer[] = [];
    for (const [index, task] of flight.tasks.entries()) {
      if (task.abandoned) continue;
      const answer = answers?.[index] ?? null;
      if (answer === null) {
        invalid.push(task);
        continue;
      }
      task.clearSuspicion();
      tasks.push(task);
      valid.push(answer);
    }
    if (!current) tasks.forEach((task) => this.#ownedTasks.judgeAgain(task));
    else if (tasks.length > 0) this.#hold(tasks, valid, flight);
    if (tasks.length > 0) this.#answered(flight);
    // Before anything is waited for: what was answered must not wait for what was not.
    this.#stamping.consider();
    if (invalid.length > 0) await this.#faults.invalid(flight, invalid);
  }

  #hold(tasks: readonly Task[], answers: readonly Answer[], { epoch, sentAt }: Flight): void {
    const latencyMs = Math.round((performance.now() - sentAt) * 100) / 100;
    this.#stamping.hold({ tasks, answers, latencyMs, moderatedAt: new Date().toISOString() }, epoch);
    for (const task of tasks) {
      task.state = 'held';
      this.#ownedTasks.advance(task);
    }
  }

  #answered({ rows, sentAt }: Flight): void {
    const { supplied } = this.#sender;
    this.#guard.concurrency.landed({ rows, latencyMs: performance.now() - sentAt, supplied });
    this.#succeeded(sentAt);
  }

  #succeeded(sentAt?: number): void {
    this.#proof.succeeded(sentAt);
    this.#overloads.passed();
    this.#hooks.succeeded();
  }

  #stamped(all: readonly PendingVerdicts[], fingerprintId: string | null): void {
    for (const held of all) {
      for (const [index, task] of held.tasks.entries()) {
        if (task.abandoned) continue;
        this.#ownedTasks.settle(task, verdictOf(held, index, this.#options.endpoint, fingerprintId));
      }
    }
  }

  #voided(all: readonly PendingVerdicts[]): void {
    for (const { tasks } of all) {
      for (const task of tasks) if (!task.abandoned) this.#ownedTasks.judgeAgain(task);
    }
  }

  #readingFailed(error: unknown): number | null {
    const next = this.#readingFailures.failed(error, this.#callOptions(this.#controller.signal));
    if (next.kind === 'again') return next.delayMs;
    if (next.kind === 'down') {
      const { reason, fatal, reached } = next;
      this.#hooks.down({ reason, fatal, reached });
    } else this.#hooks.crashed(error);
    return null;
  }
}

/** Whether the endpoint went, or may turn out to have gone, with the request. */
function maySilence(fault: Fault): boolean {
  return fault.kind === 'endpoint' || isTimeout(fault);
}
