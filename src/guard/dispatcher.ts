import type { ItemCode } from '../domain/item-error.ts';
import type { Answer } from './answer.ts';
import { backoffMs } from './backoff.ts';
import { CallError, type Fault } from './call-error.ts';
import { tryHarmlessText } from './canary.ts';
import type { CallOptions, ReadyGuard, Reply } from './connection.ts';
import type { DispatcherHooks, DispatcherOptions } from './dispatcher-hooks.ts';
import { halvesOf } from './halves.ts';
import { type HeldAnswers, verdictOf } from './held-answer.ts';
import { Overloads } from './overloads.ts';
import { type Proof, ProofOfLife } from './proof-of-life.ts';
import { ReadingFailures } from './reading-failures.ts';
import { type Flight, Sender, type Sent } from './sender.ts';
import { type Stamping, Unstamped } from './stamping.ts';
import { MAX_ATTEMPTS, type Task } from './task.ts';
import type { Signature } from './tensors/encode-request.ts';
import { VersionBrackets } from './version-brackets.ts';

/** Times an item is judged again because the model kept changing, before it ends in an error. */
const MAX_REJUDGED = 50;
/** Drops an item may take part in before it is sent alone, to learn whether it is the one that brings guards down. */
const DROPS_BEFORE_ALONE = 2;
const RETRY_BASE_MS = 50;
const RETRY_CAP_MS = 5000;
/** A guard that asks to be left alone for longer is taken out, so that its work can go elsewhere. */
const LONGEST_PAUSE_MS = 10_000;

/**
 * Everything that is asked of one endpoint while it is in use goes through its dispatcher: it fills batches across
 * shards, keeps a bounded number in flight, reads versions, and turns each reply or error into outcomes, tries and
 * tests of the endpoint. When the endpoint goes down the dispatcher is stopped, and its undone tasks go elsewhere.
 */
export class Dispatcher {
  readonly #guard: ReadyGuard;
  readonly #options: DispatcherOptions;
  readonly #hooks: DispatcherHooks;
  readonly #stamping: Stamping<HeldAnswers>;
  readonly #sender: Sender;
  /** Every task that is this dispatcher's to bring to an end. */
  readonly #tasks = new Set<Task>();
  /** Ends version readings and canaries. */
  readonly #controller = new AbortController();
  readonly #proof: ProofOfLife;
  readonly #readingFailures = new ReadingFailures(RETRY_BASE_MS, RETRY_CAP_MS);
  readonly #overloads = new Overloads();
  #stopped = false;

  constructor(guard: ReadyGuard, options: DispatcherOptions, hooks: DispatcherHooks) {
    this.#guard = guard;
    this.#options = options;
    this.#hooks = hooks;
    this.#proof = new ProofOfLife(() => tryHarmlessText(guard, this.#callOptions(this.#controller.signal)));
    this.#stamping = this.#makeStamping();
    const { maxBatchSize, concurrency } = guard;
    const { backlog, isOneOfMany } = options;
    const takes = (signature: Signature): boolean => guard.takes(signature);
    this.#sender = new Sender(
      { maxBatchSize, concurrency, backlog, isOneOfMany, takes },
      {
        open: () => !this.#stamping.suspected,
        stamp: () => ({ epoch: this.#stamping.epoch, successes: this.#proof.successes }),
        fly: (flight) => this.#fly(flight),
        taken: (tasks) => this.#taken(tasks),
        sent: () => this.#stamping.consider(),
        crashed: (error) => hooks.crashed(error),
      },
    );
  }

  #makeStamping(): Stamping<HeldAnswers> {
    const { version } = this.#guard;
    const hooks = {
      stamped: (held: readonly HeldAnswers[], id: string | null) => this.#stamped(held, id),
      voided: (held: readonly HeldAnswers[]) => this.#voided(held),
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
    return this.#tasks.size;
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
    task.state = 'active';
    this.#tasks.add(task);
    this.#sender.enqueue(task);
  }

  /** Something came into the backlog. */
  wake(): void {
    this.#sender.wake();
  }

  #taken(tasks: readonly Task[]): void {
    for (const task of tasks) this.#tasks.add(task);
    this.#hooks.taken();
  }

  /** Gives up what nobody waits for any more. */
  sweep(): void {
    this.#sender.sweep();
    for (const task of this.#tasks) if (task.abandoned) this.#tasks.delete(task);
  }

  /**
   * Ends all calls and returns the tasks it had, idle unless that settled them. `reached` when the endpoint went down with
   * requests in flight: an item that was alone in flight at several such moments ends as an error.
   */
  stop(reached: boolean): Task[] {
    this.#stopped = true;
    this.#stamping.stop();
    this.#controller.abort();
    this.#sender.stop();
    if (reached) for (const { tasks } of this.#sender.flights) tasks.forEach((task) => this.#noteDrop(task));
    const undone = [...this.#tasks].filter((task) => !task.abandoned);
    for (const task of undone) {
      task.arrival = null;
      if (task.state !== 'settled') task.state = 'idle';
    }
    this.#tasks.clear();
    return undone;
  }

  #noteDrop(task: Task): void {
    task.drops++;
    if (task.alone) {
      task.attempts++;
      if (task.attempts >= MAX_ATTEMPTS) task.settleError('GUARD_UNAVAILABLE', this.#options.endpoint, false);
    }
    if (task.drops >= DROPS_BEFORE_ALONE) task.alone = true;
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
    if (fault?.kind !== 'endpoint') this.#sender.land(flight);
    if (reply !== null) await this.#replied(flight, reply);
    else if (fault !== null) await this.#failed(flight, fault);
  }

  #callOptions(signal: AbortSignal): CallOptions {
    return { timeoutMs: this.#options.requestTimeoutMs, signal };
  }

  // Replies

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
    if (!current) tasks.forEach((task) => this.#judgeAgain(task));
    else if (tasks.length > 0) this.#hold(tasks, valid, flight);
    if (tasks.length > 0) this.#answered(flight);
    // Before anything is waited for: what was answered must not wait for what was not.
    this.#stamping.consider();
    if (invalid.length === 0) return;
    if (flight.tasks.length > 1) this.#sendAsSingles(invalid, 'INVALID_REPLY', 0);
    else await this.#refused(flight, 'INVALID_REPLY');
  }

  #hold(tasks: readonly Task[], answers: readonly Answer[], { epoch, sentAt }: Flight): void {
    const latencyMs = Math.round((performance.now() - sentAt) * 100) / 100;
    this.#stamping.hold({ tasks, answers, latencyMs, moderatedAt: new Date().toISOString() }, epoch);
    for (const task of tasks) {
      task.state = 'held';
      this.#advance(task);
    }
  }

  #answered({ rows, sentAt }: Flight): void {
    const { supplied } = this.#sender;
    this.#guard.concurrency.landed({ rows, latencyMs: performance.now() - sentAt, supplied });
    this.#succeeded();
  }

  #succeeded(): void {
    this.#proof.succeeded();
    this.#overloads.passed();
    this.#hooks.succeeded();
  }

  #stamped(all: readonly HeldAnswers[], fingerprintId: string | null): void {
    for (const held of all) {
      for (const [index, task] of held.tasks.entries()) {
        if (task.abandoned) continue;
        this.#tasks.delete(task);
        const instead = task.settle(verdictOf(held, index, this.#options.endpoint, fingerprintId));
        if (instead !== null) this.#judgeAgain(instead);
      }
    }
  }

  #voided(all: readonly HeldAnswers[]): void {
    for (const { tasks } of all) {
      for (const task of tasks) if (!task.abandoned) this.#judgeAgain(task);
    }
  }

  /** The model changed around this answer. Costs no try. */
  #judgeAgain(task: Task): void {
    this.#hooks.retried('MODEL_CHANGED');
    if (++task.rejudged > MAX_REJUDGED) {
      this.#settleError(task, 'GUARD_INTERNAL', true);
      return;
    }
    task.state = 'idle';
    const next = task.conversation === null ? task : task.conversation.next();
    if (next !== null) this.accept(next);
  }

  /** Lets the next turn of a conversation go, to this endpoint, which has the session. */
  #advance(task: Task): void {
    const next = task.conversation?.next();
    if (next && !next.abandoned) this.accept(next);
  }

  // Failures

  async #failed(flight: Flight, fault: Fault): Promise<void> {
    const tasks = flight.tasks.filter((task) => !task.abandoned);
    const single = flight.tasks.length === 1;
    switch (fault.kind) {
      case 'endpoint':
        this.#hooks.down({ reason: fault.reason, reached: fault.reached });
        return;
      case 'fatal':
        this.#hooks.down({ reason: fault.reason, fatal: true });
        return;
      case 'too-large':
        if (single) this.#settleErrors(tasks, 'ITEM_TOO_LARGE', true);
        else this.#sendAgain(tasks, { maxRows: Math.ceil(flight.tasks.length / 2) }, 'ITEM_TOO_LARGE', 0);
        return;
      case 'execution':
        if (!single) this.#sendAsSingles(tasks, 'GUARD_INTERNAL', 0);
        else if (tasks[0]?.alone === false) this.#sendAgain(tasks, { alone: true }, 'GUARD_INTERNAL', 0);
        else await this.#countAttempt(flight, 'GUARD_INTERNAL');
        return;
      case 'overload':
        await this.#overload(flight, tasks);
        return;
      case 'rate':
        this.#rateLimited(flight, tasks, fault.retryAfterMs ?? 0);
        return;
      case 'refused':
        if (fault.named) this.#answered(flight);
        if (!single) this.#sendAsSingles(tasks, fault.code, 0);
        else if (fault.named) this.#settleErrors(tasks, fault.code, true);
        else await this.#refused(flight, fault.code);
        return;
      case 'attempt':
        await this.#countAttempt(flight, fault.code);
        return;
    }
  }

  /** A refusal that names no reason: believed only if the guard judges other content. */
  async #refused(flight: Flight, code: ItemCode): Promise<void> {
    const judges = await this.#judgesOthers(flight);
    if (judges === 'yes') this.#settleRefused(flight.tasks[0]!, code);
    else if (judges === 'unclear') this.#sendAgain(flight.tasks, { alone: true }, code, this.#delayMs(1));
  }

  /** A long text may have been refused for its length: it has one more chance, in two halves. */
  #settleRefused(task: Task, code: ItemCode): void {
    const halves = code === 'GUARD_REJECTED' ? halvesOf(task) : null;
    if (halves === null) {
      this.#settleError(task, code, true);
      return;
    }
    this.#hooks.retried(code);
    this.#tasks.delete(task);
    for (const half of halves) this.accept(half);
  }

  /** A failure that may pass: a batch is taken apart, an item has one try less, if the guard judges other content. */
  async #countAttempt(flight: Flight, code: ItemCode): Promise<void> {
    const judges = await this.#judgesOthers(flight);
    if (judges === 'no') return;
    if (flight.tasks.length > 1) {
      this.#sendAsSingles(flight.tasks, code, this.#delayMs(1));
      return;
    }
    const task = flight.tasks[0]!;
    if (judges === 'unclear') {
      this.#sendAgain([task], { alone: true }, code, this.#delayMs(1));
      return;
    }
    task.attempts++;
    if (task.attempts >= MAX_ATTEMPTS) this.#settleErrors([task], code, false);
    else this.#sendAgain([task], { maxRows: 1 }, code, this.#delayMs(task.attempts));
  }

  /** Less at a time, and a pause. Only what was alone in flight can have been too much by itself. */
  async #overload(flight: Flight, tasks: readonly Task[]): Promise<void> {
    const alone = this.#sender.flights.size === 0 && this.#proof.successes === flight.successes;
    this.#slowDown(flight, 0);
    if (alone && (await this.#judgesOthers(flight)) === 'yes') {
      await this.#countAttempt(flight, 'GUARD_OVERLOADED');
    } else if (!this.#stopped) {
      this.#sendAgain(tasks, {}, 'GUARD_OVERLOADED', 0);
    }
  }

  /** Too many requests, whichever they were: never a try of an item. A long wait is spent on other endpoints. */
  #rateLimited(flight: Flight, tasks: readonly Task[], retryAfterMs: number): void {
    if (retryAfterMs > LONGEST_PAUSE_MS) {
      this.#hooks.down({ reason: 'rate limited', leaveAloneMs: retryAfterMs });
      return;
    }
    this.#slowDown(flight, retryAfterMs);
    this.#sendAgain(tasks, {}, 'GUARD_OVERLOADED', 0);
  }

  /** Less at a time, after a pause of at least so long. */
  #slowDown(flight: Flight, atLeastMs: number): void {
    const inRow = this.#overloads.count(flight.sentAt);
    if (inRow !== null) this.#guard.concurrency.overloaded();
    if (inRow !== null || atLeastMs > 0) {
      this.#sender.pause(atLeastMs + (inRow === null ? 0 : this.#delayMs(inRow)));
    }
  }

  /** Whether the guard judges other content than this flight's; takes the endpoint out when it does not. */
  async #judgesOthers(flight: Flight): Promise<'yes' | 'no' | 'unclear'> {
    let proof: Proof;
    try {
      proof = await this.#proof.since(flight.successes, this.#sender.isExclusive(flight));
    } catch (error) {
      if (this.#stopped) return 'no';
      throw error;
    }
    if (this.#stopped) return 'no';
    if (proof.kind === 'dead') {
      this.#hooks.down({ reason: proof.reason, fatal: proof.fatal });
      return 'no';
    }
    if (proof.kind === 'unclear') return 'unclear';
    if (this.#proof.successes === flight.successes) this.#succeeded();
    return 'yes';
  }

  #readingFailed(error: unknown): number | null {
    const next = this.#readingFailures.failed(error, this.#callOptions(this.#controller.signal));
    if (next.kind === 'again') return next.delayMs;
    if (next.kind === 'down') this.#hooks.down({ reason: next.reason, fatal: next.fatal });
    else this.#hooks.crashed(error);
    return null;
  }

  #sendAsSingles(tasks: readonly Task[], cause: ItemCode, delayMs: number): void {
    this.#sendAgain(tasks, { maxRows: 1 }, cause, delayMs);
  }

  #sendAgain(
    tasks: readonly Task[],
    form: { readonly maxRows?: number; readonly alone?: boolean },
    cause: ItemCode,
    delayMs: number,
  ): void {
    if (this.#stopped) return;
    this.#hooks.retried(cause);
    for (const task of tasks) {
      task.maxRows = Math.min(task.maxRows, form.maxRows ?? task.maxRows);
      task.alone ||= form.alone === true;
    }
    if (delayMs === 0) for (const task of tasks) this.#sender.enqueue(task);
    else this.#sender.enqueueLater(tasks, delayMs);
  }

  #settleErrors(tasks: readonly Task[], code: ItemCode, counted: boolean): void {
    for (const task of tasks) this.#settleError(task, code, counted);
  }

  #settleError(task: Task, code: ItemCode, counted: boolean): void {
    this.#tasks.delete(task);
    task.settleError(code, this.#options.endpoint, counted);
    this.#advance(task);
  }

  #delayMs(attempt: number): number {
    return backoffMs(attempt, RETRY_BASE_MS, RETRY_CAP_MS);
  }
}
