import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { CallError, isTimeout } from '../protocol/call-error.ts';
import type { CallOptions, ReadyGuard, Reply } from '../protocol/connection.ts';
import { StreamSlots } from '../streams/stream-slots.ts';
import type { Task } from '../tasks/task.ts';
import type { Demand, Offer, TaskQueue } from '../tasks/task-queue.ts';
import type { RequestKind } from '../tensors/encode-request.ts';
import type { Load } from '../versions/version-brackets.ts';
import { BarredRequests } from './barred-requests.ts';
import type { EndpointEvents, Outage } from './events.ts';
import { FaultResponses } from './fault-responses.ts';
import { GuardHealth } from './guard-health.ts';
import { type Flight, InFlight } from './in-flight.ts';
import { InteractiveStreams } from './interactive-streams.ts';
import { OwnedTasks } from './owned-tasks.ts';
import { type Sent, SentMeter } from './sent-meter.ts';
import { Verdicts } from './verdicts.ts';

export interface DispatcherOptions {
  /** The endpoint's name as recorded in outcomes. */
  readonly endpoint: string;
  readonly requestTimeoutMs: number;
  /** Whether verdicts name the model that they came from, if the guard reports it. */
  readonly stampVerdicts: boolean;
  /** Whether the endpoint goes out of use when its model changes, because the new one must be checked first. */
  readonly heldWhenChanged: boolean;
  /** Tasks waiting for any endpoint. Shared with the other endpoints: read and taken from here, never added to. */
  readonly backlog: TaskQueue;
  /** Whether other endpoints take from the backlog too. */
  readonly isOneOfMany: () => boolean;
}

interface OfferOfKind extends Offer {
  readonly isStream: boolean;
  readonly isShared: boolean;
}

/**
 * Sends the tasks of one endpoint while it is in use: forms batches from its own queue and from the shared backlog,
 * respects the limits in flight, and passes replies to `Verdicts` and errors to `FaultResponses`. Its own queue goes
 * first. From the backlog it takes only what it can send at once, so the next batch goes to whichever endpoint has
 * room, and a slow endpoint does not delay others. Every request to the guard goes through here, so batches fill across
 * shards. When the endpoint goes out of use, its dispatcher is stopped for good, and unsettled tasks return to the
 * pool.
 *
 *   assign(), backlog ──► queued ──► in flight ──► answered ──► settled as a verdict
 *                           ▲ ▲          │             │
 *                           │ └── fault ─┼─────────► settled as an error
 *                           │            │             │ the model changed
 *                           └────────────┴─────────────┘
 */
export class Dispatcher {
  readonly health: GuardHealth;
  readonly streams: InteractiveStreams;
  readonly #guard: ReadyGuard;
  readonly #options: DispatcherOptions;
  readonly #events: EndpointEvents;
  readonly #slots: StreamSlots;
  readonly #inFlight: InFlight;
  readonly #tasks: OwnedTasks;
  readonly #verdicts: Verdicts;
  readonly #faults: FaultResponses;
  readonly #meter = new SentMeter();
  readonly #life = new AbortController();
  /** Number of current pauses; nothing is sent while there is one. */
  #pauses = 0;
  #woken = false;

  constructor(guard: ReadyGuard, options: DispatcherOptions, events: EndpointEvents) {
    this.#guard = guard;
    this.#options = options;
    this.#events = events;
    const { endpoint, requestTimeoutMs, stampVerdicts, heldWhenChanged } = options;
    const { signal } = this.#life;
    setMaxListeners(0, signal);
    const calls: CallOptions = { timeoutMs: requestTimeoutMs, signal };
    const wake = (): void => this.wake();
    const slots = new StreamSlots(guard.streams?.concurrency ?? null);
    const inFlight = new InFlight(guard.concurrency, slots);
    const tasks = new OwnedTasks({ endpoint, events, wake, signal });
    const barred = new BarredRequests(guard, calls);
    const health = new GuardHealth({
      guard,
      calls,
      isIdle: () => tasks.size === 0 && slots.open === 0,
      isSupplied: ({ isStream }) => this.#offerOf(isStream, false) !== null,
      events,
    });
    const version = stampVerdicts ? guard.version : null;
    const load = (): Load => this.#load;
    this.#slots = slots;
    this.#inFlight = inFlight;
    this.#tasks = tasks;
    this.health = health;
    this.#verdicts = new Verdicts({ endpoint, version, heldWhenChanged, calls, load, tasks, events, wake });
    this.streams = new InteractiveStreams({
      streams: guard.streams,
      slots,
      calls,
      health,
      barred,
      events,
      released: wake,
    });
    this.#faults = new FaultResponses({
      inFlight,
      tasks,
      health,
      barred,
      events,
      calls,
      pause: (ms) => this.#pause(ms),
    });
  }

  /** Tasks that are not yet settled. */
  get load(): number {
    return this.#tasks.size;
  }

  /** Tasks in requests that are in flight. */
  get inFlight(): number {
    let tasks = 0;
    for (const flight of this.#inFlight.flights) tasks += flight.tasks.length;
    return tasks;
  }

  /**
   * Whether verdicts can be expected. False while the guard has rejected everything as overload since it last judged
   * something, and while its version cannot be read, since no answer then becomes a verdict.
   */
  get isUsable(): boolean {
    return !this.health.isOverloaded && this.#verdicts.brackets?.isFailing !== true;
  }

  get sent(): Sent {
    this.#clockIdle();
    return this.#meter.total;
  }

  /** Adds a task to be judged by this endpoint and no other, as long as the endpoint is in use. */
  assign(task: Task): void {
    this.#tasks.assign(task);
  }

  /** Id of the model named by a version reading that begins after this call; null if none will. */
  readModel(): Promise<string | null> {
    return this.#verdicts.brackets?.readModel() ?? Promise.resolve(null);
  }

  /** Drops abandoned tasks, and aborts the requests in which every task is abandoned. */
  sweep(): void {
    this.#tasks.sweep();
    for (const { tasks, controller } of this.#inFlight.flights) {
      if (tasks.every((task) => task.abandoned)) controller.abort();
    }
  }

  /**
   * Ends all calls and returns the unsettled tasks, idle. `outage` is the reason why the endpoint went down, or null. A
   * task that was alone in flight in too many outages is returned settled, as an error.
   */
  stop(outage: Outage | null): Task[] {
    this.#life.abort();
    this.#verdicts.brackets?.stop();
    for (const flight of this.#inFlight.flights) {
      flight.controller.abort();
      if (outage?.reached === true) this.#tasks.noteOutage(flight, outage.reason);
    }
    this.streams.stop();
    return this.#tasks.giveBack();
  }

  /**
   * Called when the queues or the limits have changed. Sends in the next turn of the event loop, so tasks added in this
   * one share batches.
   */
  wake(): void {
    if (this.#woken || this.#isStopped) return;
    this.#woken = true;
    setImmediate(() => {
      this.#woken = false;
      if (!this.#isStopped) this.#sendAll();
    });
  }

  #sendAll(): void {
    const { queue } = this.#tasks;
    while (this.#maySend()) {
      const alone = queue.nextAlone;
      if (alone !== null) {
        if (!this.#inFlight.isOver) break;
        queue.takeAlone((task) => task === alone);
        this.#send([alone], 1, true);
        break;
      }
      const offer = this.#nextOffer();
      if (offer === null) break;
      const { rows, isStream, isShared } = offer;
      if (!isStream && !this.#inFlight.hasRoomForRows(rows)) break;
      const tasks = offer.take().filter((task) => !task.abandoned);
      if (tasks.length === 0) continue;
      if (isShared) {
        this.#tasks.own(tasks);
        this.#events.backlogTaken();
      }
      this.#send(tasks, rows, false);
      if (isShared && this.#options.isOneOfMany()) {
        // Yields: the other endpoints take their batches before this one takes more.
        this.wake();
        break;
      }
    }
    this.#clockIdle();
    this.#verdicts.brackets?.consider();
  }

  #maySend(): boolean {
    return (
      this.#pauses === 0 &&
      this.#inFlight.exclusive === null &&
      this.#inFlight.hasRoomForBytes &&
      !this.health.isDoubted &&
      this.#verdicts.brackets?.isSuspected !== true
    );
  }

  /**
   * Finds the next offer, streams first: they have their own limit, so streams and requests do not delay each other.
   */
  #nextOffer(): OfferOfKind | null {
    const partial = this.#inFlight.isUnderused;
    const stream = this.#slots.isFree ? this.#offerOf(true, partial) : null;
    return stream ?? this.#offerOf(false, partial);
  }

  #offerOf(isStream: boolean, partial: boolean): OfferOfKind | null {
    const takes = (requestKind: RequestKind): boolean =>
      (requestKind === 'generation') === isStream && this.#guard.takes(requestKind);
    const demand: Demand = { maxRows: Math.max(1, this.#guard.maxBatchSize), partial, takes };
    // No other endpoint takes from this queue, and few tasks arrive there, so batches do not wait to fill up.
    const own = this.#tasks.queue.next({ ...demand, partial: true });
    if (own !== null) return { ...own, isStream, isShared: false };
    const shared = this.#options.backlog.next(demand);
    return shared && { ...shared, isStream, isShared: true };
  }

  /** Makes the call, and handles its reply or error. */
  #send(tasks: readonly Task[], rows: number, exclusive: boolean): void {
    const isStream = tasks[0]!.requestKind === 'generation';
    const flight: Flight = {
      tasks,
      rows,
      bytes: tasks.reduce((sum, task) => sum + task.bytes, 0),
      isStream,
      concurrency: isStream ? this.#slots.concurrency! : this.#guard.concurrency,
      epoch: this.#verdicts.brackets?.epoch ?? 0,
      sentAt: performance.now(),
      successes: this.health.successes,
      controller: new AbortController(),
    };
    this.#inFlight.begin(flight, exclusive);
    this.#meter.sent(tasks.length, rows);
    this.#judge(flight).then(
      () => {
        this.#inFlight.resolve(flight);
        this.wake();
      },
      (error: unknown) => this.#events.crashed(error),
    );
  }

  async #judge(flight: Flight): Promise<void> {
    const { signal } = flight.controller;
    let reply: Reply | null = null;
    let failure: CallError | null = null;
    try {
      reply = await this.#guard.judge(flight.tasks, { timeoutMs: this.#options.requestTimeoutMs, signal });
    } catch (error) {
      if (error instanceof CallError) failure = error;
      else if (!signal.aborted) throw error;
    }
    if (this.#isStopped) return;
    // After an outage the request still counts as in flight: `stop` notes the outage for its tasks.
    const mayBeOutage = failure !== null && (failure.fault.kind === 'endpoint' || isTimeout(failure.fault));
    if (!mayBeOutage) {
      this.#clockIdle();
      this.#inFlight.complete(flight);
    }
    if (failure !== null) await this.#faults.failed(flight, failure);
    else if (reply !== null) await this.#replied(flight, reply);
  }

  async #replied(flight: Flight, reply: Reply): Promise<void> {
    const { invalid, anyValid } = this.#verdicts.replied(flight, reply);
    if (anyValid) this.health.answered(flight);
    // Before any await: the answered tasks must not wait for the invalid ones.
    this.#verdicts.brackets?.consider();
    if (invalid.length > 0) await this.#faults.invalid(flight, invalid);
  }

  #pause(ms: number): void {
    this.#pauses++;
    sleep(ms, undefined, { signal: this.#life.signal }).then(
      () => {
        this.#pauses--;
        this.wake();
      },
      () => {},
    );
  }

  get #isStopped(): boolean {
    return this.#life.signal.aborted;
  }

  /** Sending one task at a time counts as starved: a reading then delays little of what is in flight. */
  get #load(): Load {
    const isOneByOne = this.#inFlight.exclusive !== null || this.#tasks.queue.nextAlone !== null;
    const isWaiting = this.#hasWaiting;
    if (!isOneByOne && (isWaiting || !this.#inFlight.isUnderused)) return 'busy';
    return this.#inFlight.flights.size > 0 || isWaiting ? 'starved' : 'idle';
  }

  get #hasWaiting(): boolean {
    const takes = (requestKind: RequestKind): boolean => this.#guard.takes(requestKind);
    return this.#tasks.queue.size > 0 || this.#options.backlog.hasFor(takes);
  }

  #clockIdle(): void {
    this.#meter.clock(this.#inFlight.isUnderused && this.#slots.open === 0 && !this.#hasWaiting);
  }
}
