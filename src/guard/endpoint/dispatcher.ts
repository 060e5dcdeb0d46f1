import type { Answer } from '../protocol/answer.ts';
import { CallError, isTimeout, type OutReason } from '../protocol/call-error.ts';
import { tryHarmlessText } from '../protocol/canary.ts';
import type { CallOptions, ReadyGuard, Reply } from '../protocol/connection.ts';
import type { StreamStart } from '../streams/generation-stream.ts';
import type { GuardStream } from '../streams/guard-stream.ts';
import { StreamSlots } from '../streams/stream-slots.ts';
import type { Task } from '../tasks/task.ts';
import type { TaskQueue } from '../tasks/task-queue.ts';
import type { RequestKind } from '../tensors/encode-request.ts';
import { type PendingVerdicts, verdictOf } from '../versions/pending-verdicts.ts';
import { ReadingFailures } from '../versions/reading-failures.ts';
import { type Stamping, Unstamped } from '../versions/stamping.ts';
import { VersionBrackets } from '../versions/version-brackets.ts';
import type { EndpointEvents, Outage } from './events.ts';
import { BarredRequests } from './barred-requests.ts';
import { FaultResponses } from './fault-responses.ts';
import type { Flight } from './flight.ts';
import { GuardHealth } from './guard-health.ts';
import { IdleProbe } from './idle-probe.ts';
import { InteractiveStreams } from './interactive-streams.ts';
import { Liveness } from './liveness.ts';
import { OwnedTasks } from './owned-tasks.ts';
import { Sender } from './sender.ts';
import type { Sent } from './sent-meter.ts';

export interface DispatcherOptions {
  /** The endpoint's name as recorded in outcomes. */
  readonly endpoint: string;
  readonly requestTimeoutMs: number;
  /** Whether verdicts name the model that they came from, if the guard reports it. */
  readonly stampVerdicts: boolean;
  /** Whether the endpoint goes out of use when its model changes, so that the new one is checked first. */
  readonly heldWhenChanged: boolean;
  /** Tasks waiting for any endpoint. */
  readonly backlog: TaskQueue;
  /** Whether other endpoints take from the backlog as well. */
  readonly isOneOfMany: () => boolean;
}

/**
 * Runs one endpoint while it is in use. Every request goes through its dispatcher, so batches fill across shards. The
 * `Sender` decides what is sent and when, the `Stamping` when answers become verdicts, `FaultResponses` what follows
 * from an error. One instance serves one period of use: when the endpoint goes out it is stopped for good, and the
 * tasks it has not settled go back to the pool.
 *
 * States of a task here (in terms of `TaskState`: the first two are active):
 *
 *   assign(), backlog ──► queued ──► in flight ──► answered ──► settled as a verdict
 *                           ▲ ▲          │             │
 *                           │ └── fault ─┼─────────► settled as an error
 *                           │            │             │ the model changed
 *                           └────────────┴─────────────┘
 *
 * `stop()` returns every task that is not settled, idle. All states: docs/run-states.md.
 */
export class Dispatcher {
  readonly #guard: ReadyGuard;
  readonly #options: DispatcherOptions;
  readonly #events: EndpointEvents;
  readonly #stamping: Stamping<PendingVerdicts>;
  readonly #sender: Sender;
  readonly #ownedTasks: OwnedTasks;
  readonly #faults: FaultResponses;
  readonly #health: GuardHealth;
  readonly #slots: StreamSlots;
  readonly #interactive: InteractiveStreams;
  readonly #readingFailures = new ReadingFailures();
  /** Aborts version readings and harmless texts. */
  readonly #controller = new AbortController();
  readonly #idleProbe: IdleProbe;
  #stopped = false;

  constructor(guard: ReadyGuard, options: DispatcherOptions, events: EndpointEvents) {
    this.#guard = guard;
    this.#options = options;
    this.#events = events;
    const { maxBatchSize, concurrency, streams } = guard;
    const slots = new StreamSlots(streams?.concurrency ?? null);
    this.#slots = slots;
    const ownCalls = this.#callOptions(this.#controller.signal);
    const barred = new BarredRequests(guard, ownCalls);
    const liveness = new Liveness(() => tryHarmlessText(guard, ownCalls));
    this.#health = new GuardHealth(liveness, events);
    this.#stamping = this.#makeStamping();
    const { endpoint, requestTimeoutMs, backlog, isOneOfMany } = options;
    const takes = (requestKind: RequestKind): boolean => guard.takes(requestKind);
    const sender = new Sender(
      { maxBatchSize, concurrency, slots, backlog, isOneOfMany, takes },
      {
        open: () => !this.#stamping.suspected && !liveness.doubted,
        stamp: () => ({ epoch: this.#stamping.epoch, successes: liveness.successes }),
        send: this.#send,
        taken: (tasks) => {
          this.#ownedTasks.own(tasks);
          events.backlogTaken();
        },
        sent: () => this.#stamping.consider(),
      },
      events,
    );
    this.#sender = sender;
    this.#interactive = new InteractiveStreams({
      streams,
      slots,
      requestTimeoutMs,
      health: this.#health,
      barred,
      events,
      released: () => sender.wake(),
    });
    this.#ownedTasks = new OwnedTasks({ endpoint, sender, events });
    this.#faults = new FaultResponses({
      requestTimeoutMs,
      sender,
      ownedTasks: this.#ownedTasks,
      health: this.#health,
      barred,
      events,
    });
    this.#idleProbe = new IdleProbe(guard, {
      isIdle: () => this.load === 0 && this.openStreams === 0,
      down: (outage) => events.down(outage),
      crashed: (error) => events.crashed(error),
    });
  }

  #makeStamping(): Stamping<PendingVerdicts> {
    const { version } = this.#guard;
    const hooks = { stamped: this.#stamped, voided: this.#voided };
    if (version === null || !this.#options.stampVerdicts) return new Unstamped(hooks);
    return new VersionBrackets(version.first, {
      ...hooks,
      read: () => version.read(this.#callOptions(this.#controller.signal)),
      load: () => this.#sender.load,
      approve: (reading) => {
        this.#readingFailures.succeeded();
        if (!this.#events.approveModel(reading)) return false;
        if (this.#options.heldWhenChanged && reading.fingerprint.id !== version.first.fingerprint.id) {
          this.#events.down({ reason: 'model changed' });
          return false;
        }
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

  /** Tasks in requests that are in flight. */
  get inFlight(): number {
    let tasks = 0;
    for (const flight of this.#sender.flights) tasks += flight.tasks.length;
    return tasks;
  }

  /**
   * Whether verdicts can be expected: not while the guard has rejected everything as overload since it last judged
   * something, nor while its version cannot be read, without which no answer becomes a verdict.
   */
  get usable(): boolean {
    return !this.#health.overloads.any && !this.#readingFailures.any;
  }

  /** See `EndpointStatus.successes`. */
  get successes(): number {
    return this.#health.liveness.successes;
  }

  get sent(): Sent {
    return this.#sender.sent;
  }

  /** Streams open, replayed and interactive ones. */
  get openStreams(): number {
    return this.#slots.open;
  }

  /** Whether another stream may be opened now. */
  get hasFreeStream(): boolean {
    return this.#interactive.isFree;
  }

  /** Opens a stream for a text that is still being generated; see `hasFreeStream`. It fails when the endpoint goes out. */
  openStream(start: StreamStart, signal: AbortSignal): GuardStream {
    return this.#interactive.open(start, signal);
  }

  /** Adds a task to be judged by this endpoint and no other, as long as the endpoint is in use. */
  assign(task: Task): void {
    this.#ownedTasks.assign(task);
  }

  /** The backlog, or what the endpoint may take of it, has changed. */
  wake(): void {
    this.#sender.wake();
  }

  /** See `Stamping`. */
  readModel(): Promise<string | null> {
    return this.#stamping.readModel();
  }

  /** Drops abandoned tasks. */
  sweep(): void {
    this.#sender.sweep();
    this.#ownedTasks.sweep();
  }

  /**
   * Ends all calls and returns the tasks it had: idle, except for those that the outage settled. `outage`: why the endpoint
   * went down; null when it did not. A task that was alone in flight in too many outages ends as an error.
   */
  stop(outage: Outage | null): Task[] {
    this.#stopped = true;
    this.#faults.stop();
    this.#idleProbe.stop();
    this.#stamping.stop();
    this.#controller.abort();
    this.#sender.stop();
    this.#interactive.stop();
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

  /** See `SenderHooks.send`. */
  readonly #send = async (flight: Flight): Promise<void> => {
    let reply: Reply | null = null;
    let failure: CallError | null = null;
    try {
      reply = await this.#guard.judge(flight.tasks, this.#callOptions(flight.controller.signal));
    } catch (error) {
      if (error instanceof CallError) failure = error;
      else if (!flight.controller.signal.aborted) throw error;
    }
    if (this.#stopped) return;
    // After such a fault the request still counts as in flight, so that `stop` notes the outage for its tasks.
    if (failure === null || !mayBeOutage(failure)) this.#sender.complete(flight);
    if (reply !== null) await this.#replied(flight, reply);
    else if (failure !== null) await this.#faults.failed(flight, failure);
  };

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
    else if (tasks.length > 0) this.#keep(tasks, valid, flight);
    if (tasks.length > 0) this.#health.answered(flight, this.#sender.isSupplied(flight));
    // Before any await: the answered tasks must not wait for the invalid ones.
    this.#stamping.consider();
    if (invalid.length > 0) await this.#faults.invalid(flight, invalid);
  }

  /** Keeps answers until a version reading tells which model gave them. */
  #keep(tasks: readonly Task[], answers: readonly Answer[], { epoch, sentAt }: Flight): void {
    const latencyMs = Math.round((performance.now() - sentAt) * 100) / 100;
    this.#stamping.keep({ tasks, answers, latencyMs, moderatedAt: new Date().toISOString() }, epoch);
    for (const task of tasks) {
      task.state = 'answered';
      this.#ownedTasks.advance(task);
    }
  }

  /** See `StampingHooks`. */
  readonly #stamped = (all: readonly PendingVerdicts[], fingerprintId: string | null): void => {
    for (const pending of all) {
      for (const [index, task] of pending.tasks.entries()) {
        if (task.abandoned) continue;
        this.#ownedTasks.settle(task, verdictOf(pending, index, this.#options.endpoint, fingerprintId));
      }
    }
  };

  /** See `StampingHooks`. */
  readonly #voided = (all: readonly PendingVerdicts[]): void => {
    for (const { tasks } of all) {
      for (const task of tasks) if (!task.abandoned) this.#ownedTasks.judgeAgain(task);
    }
  };

  /** See `BracketHooks.failed`. */
  #readingFailed(error: unknown): number | null {
    const next = this.#readingFailures.failed(error, this.#callOptions(this.#controller.signal));
    if (next.kind === 'again') return next.delayMs;
    if (next.kind === 'down') {
      const { reason, fatal, reached } = next;
      this.#events.down({ reason, fatal, reached });
    } else this.#events.crashed(error);
    return null;
  }
}

/** Whether the endpoint went down with the request, or may turn out to have. */
function mayBeOutage({ fault }: CallError): boolean {
  return fault.kind === 'endpoint' || isTimeout(fault);
}
