import { setMaxListeners } from 'node:events';
import { Failure } from '../domain/failure.ts';
import { type Fingerprint } from '../domain/fingerprint.ts';
import { type Outcome } from '../domain/outcome.ts';
import { type GuardRequest } from '../domain/request.ts';
import { Admission } from './admission.ts';
import { type Reading } from './connection.ts';
import { type Dispatcher } from './dispatcher.ts';
import { Endpoint, type EndpointStatus, type EndpointTarget } from './endpoint.ts';
import { Judging } from './judging.ts';
import { type GuardPool, type JudgeOptions } from './pool.ts';
import { Conversation, Task } from './task.ts';
import { type Signature } from './tensors/encode-request.ts';

/** Once one guard is ready, how long the start waits for the others, in milliseconds. */
const OTHERS_TIMEOUT_MS = 5000;
/** Most items in the pool; further calls wait to be let in. */
const MAX_ITEMS = 16_384;
/** Tasks that go to one endpoint before the loads are compared again. */
const PLACE_TOGETHER = 64;
/** How often a pool that waits for a slow guard looks whether it still does, in milliseconds. */
const WATCH_MS = 1000;

/** A pool of endpoints: places tasks, moves them when an endpoint goes out, and gives up when none returns. */
export class LivePool implements GuardPool {
  readonly #endpoints: readonly Endpoint[];
  readonly #expectFingerprint: string | null;
  readonly #maxWaitMs: number;
  readonly #fingerprints = new Map<string, Fingerprint>();
  readonly #listeners = new Set<(endpoints: readonly EndpointStatus[]) => void>();
  readonly #admission = new Admission(MAX_ITEMS);
  readonly #live = new Set<Judging>();
  /** Tasks without an endpoint: those that would take them are out. */
  #parked: Task[] = [];
  /** Since when there have been any. */
  #parkedAt = 0;
  #sessions = 0;
  /** When something was last judged, or work came in with nothing else under way. */
  #progressAt = 0;
  #watch: NodeJS.Timeout | null = null;
  #failure: Failure | null = null;
  /** Ends the start with a failure, as long as it is under way. */
  #refuseStart: ((failure: Failure) => void) | null = null;

  constructor(
    targets: readonly EndpointTarget[],
    requestTimeoutMs: number,
    expectFingerprint: string | null,
    maxWaitMs: number,
  ) {
    this.#expectFingerprint = expectFingerprint;
    this.#maxWaitMs = maxWaitMs;
    this.#endpoints = targets.map((target) => {
      const endpoint: Endpoint = new Endpoint(target, requestTimeoutMs, {
        ready: () => this.#ready(),
        unusable: (error) =>
          this.#refuseStart?.(
            new Failure('service', `guard ${endpoint.name}: ${error.message}`, { cause: error }),
          ),
        out: (undone) => this.#out(undone),
        succeeded: () => (this.#progressAt = performance.now()),
        accept: (reading) => this.#accept(endpoint, reading),
        crashed: (error) => this.#fail(new Failure('internal', 'the guard client failed', { cause: error })),
      });
      return endpoint;
    });
  }

  get fingerprints(): ReadonlyMap<string, Fingerprint> {
    return this.#fingerprints;
  }

  /** Waits as `connectGuards` says. `begunAt`: when the time began to run, by `performance.now()`. */
  async start(timeoutMs: number, begunAt: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const timers: NodeJS.Timeout[] = [];
    let abort = (): void => {};
    try {
      await new Promise<void>((resolve, reject) => {
        abort = (): void => reject(signal.reason as Error);
        signal.addEventListener('abort', abort, { once: true });
        this.#refuseStart = reject;
        const overdue = (): void => {
          if (this.#usable()) resolve();
          else reject(this.#unreachable(timeoutMs));
        };
        timers.push(setTimeout(overdue, begunAt + timeoutMs - performance.now()));
        let starting = this.#endpoints.length;
        const started = (): void => {
          if (this.#failure !== null) reject(this.#failure);
          else if (--starting === 0) resolve();
          else timers.push(setTimeout(resolve, OTHERS_TIMEOUT_MS));
        };
        for (const endpoint of this.#endpoints) endpoint.start().then(started, reject);
      });
    } finally {
      this.#refuseStart = null;
      for (const timer of timers) clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    }
  }

  async judge(requests: readonly GuardRequest[], options: JudgeOptions): Promise<Outcome[]> {
    const { signal } = options;
    signal.throwIfAborted();
    if (requests.length === 0) return [];
    // Many shards are judged at a time under one signal.
    setMaxListeners(0, signal);
    await this.#admission.enter(requests.length, signal);
    const judging = new Judging(requests.length);
    const abort = (): void => {
      judging.fail(signal.reason);
      this.#sweep();
    };
    signal.addEventListener('abort', abort, { once: true });
    try {
      if (this.#failure !== null) throw this.#failure;
      if (this.#live.size === 0) this.#progressAt = performance.now();
      this.#live.add(judging);
      this.#place(this.#tasksOf(judging, requests, options.session), options.endpoint ?? null);
      this.#keepWatch();
      return await judging.promise;
    } finally {
      signal.removeEventListener('abort', abort);
      this.#live.delete(judging);
      this.#admission.leave(requests.length);
      if (this.#live.size === 0) this.#endWatch();
    }
  }

  status(): EndpointStatus[] {
    return this.#endpoints.map((endpoint) => endpoint.status);
  }

  onStateChange(listener: (endpoints: readonly EndpointStatus[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#fail(new Failure('interrupted', 'the guards were closed'));
    await Promise.all(this.#endpoints.map((endpoint) => endpoint.close()));
  }

  /** The tasks to place now: of a conversation, its first turn. */
  #tasksOf(judging: Judging, requests: readonly GuardRequest[], session: string): Task[] {
    const conversations = new Map<number, Conversation>();
    const tasks: Task[] = [];
    for (const [index, request] of requests.entries()) {
      const first = request.requestType === 'multiturn' ? request.conversation : null;
      if (first === null) {
        tasks.push(new Task(judging, index, request, `${session}-item-${this.#sessions++}`, null));
        continue;
      }
      const earlier = conversations.get(first);
      const conversation = earlier ?? new Conversation();
      conversations.set(first, conversation);
      const task = new Task(judging, index, request, `${session}-${first}`, conversation);
      if (earlier === undefined) tasks.push(task);
    }
    return tasks;
  }

  /** `preferred`: name of the endpoint they go to if it can have them. */
  #place(tasks: readonly Task[], preferred: string | null = null): void {
    for (let from = 0; from < tasks.length; from += PLACE_TOGETHER) {
      const chosen = new Map<Signature, Dispatcher | null>();
      for (const task of tasks.slice(from, from + PLACE_TOGETHER)) {
        const { signature } = task;
        if (!chosen.has(signature)) chosen.set(signature, this.#choose(signature, preferred));
        const dispatcher = chosen.get(signature)!;
        if (dispatcher !== null) dispatcher.accept(task);
        else if (this.#endpoints.some((endpoint) => endpoint.takes(signature))) this.#park(task);
        else task.settleNotTaken();
      }
    }
  }

  #park(task: Task): void {
    if (this.#parked.length === 0) this.#parkedAt = performance.now();
    this.#parked.push(task);
  }

  /** The least loaded of those that take such requests, unless another is preferred; null when none is in use. */
  #choose(signature: Signature, preferred: string | null): Dispatcher | null {
    let least: Dispatcher | null = null;
    for (const endpoint of this.#endpoints) {
      const { dispatcher } = endpoint;
      if (dispatcher === null || !endpoint.takes(signature)) continue;
      if (endpoint.name === preferred) return dispatcher;
      if (least === null || dispatcher.load < least.load) least = dispatcher;
    }
    return least;
  }

  #ready(): void {
    const parked = this.#parked;
    const parkedAt = this.#parkedAt;
    this.#parked = [];
    this.#place(parked.filter((task) => !task.abandoned));
    if (this.#parked.length > 0) this.#parkedAt = parkedAt;
    this.#tellListeners();
  }

  #out(undone: readonly Task[]): void {
    const conversations = new Set<Conversation>();
    const tasks: Task[] = [];
    for (const task of undone) {
      if (task.conversation !== null) conversations.add(task.conversation);
      else if (task.state === 'idle') tasks.push(task);
    }
    for (const conversation of conversations) {
      const next = conversation.next();
      if (next !== null) tasks.push(next);
    }
    this.#place(tasks);
    this.#tellListeners();
    const hopeless = this.#endpoints.every(({ state }) => state.name === 'out' && state.fatal);
    if (hopeless) this.#fail(new Failure('service', `no guard can be used: ${this.#describeOut()}`));
  }

  #sweep(): void {
    this.#parked = this.#parked.filter((task) => !task.abandoned);
    for (const { dispatcher } of this.#endpoints) dispatcher?.sweep();
  }

  #accept(endpoint: Endpoint, { fingerprint }: Reading): boolean {
    const expected = this.#expectFingerprint;
    if (expected !== null && fingerprint.id !== expected) {
      const found = `guard ${endpoint.name} has the fingerprint ${fingerprint.id}, expected was ${expected}`;
      this.#fail(new Failure('service', found));
      return false;
    }
    this.#fingerprints.set(fingerprint.id, fingerprint);
    return true;
  }

  #fail(failure: Failure): void {
    if (this.#failure !== null) return;
    this.#failure = failure;
    for (const judging of this.#live) judging.fail(failure);
    this.#sweep();
  }

  #tellListeners(): void {
    for (const listener of this.#listeners) listener(this.status());
  }

  #usable(): boolean {
    return this.#endpoints.some(({ dispatcher }) => dispatcher?.usable === true);
  }

  /**
   * While anything is being judged, watches for the moment when no guard has been of use for too long, or none of
   * those that take what is parked.
   */
  #keepWatch(): void {
    if (this.#watch !== null) return;
    const now = performance.now();
    const due = Math.min(this.#progressAt, this.#waitingSince()) + this.#maxWaitMs;
    const waitMs = due > now ? due - now : Math.min(WATCH_MS, this.#maxWaitMs);
    this.#watch = setTimeout(() => {
      this.#watch = null;
      const latest = performance.now() - this.#maxWaitMs;
      const useless = this.#progressAt <= latest && !this.#usable();
      if (useless || this.#waitingSince() <= latest) this.#fail(this.#unreachable(this.#maxWaitMs));
      else if (this.#live.size > 0) this.#keepWatch();
    }, Math.ceil(waitMs));
  }

  /** Since when tasks have waited for an endpoint that takes them, though others may be judging. */
  #waitingSince(): number {
    return this.#parked.length === 0 ? Number.POSITIVE_INFINITY : this.#parkedAt;
  }

  #endWatch(): void {
    if (this.#watch !== null) clearTimeout(this.#watch);
    this.#watch = null;
  }

  #unreachable(waitedMs: number): Failure {
    return new Failure(
      'service',
      `no guard was of use for ${Math.round(waitedMs / 100) / 10} s: ${this.#describeOut()}`,
    );
  }

  #describeOut(): string {
    return this.#endpoints
      .map(({ name, state }) => `${name}: ${state.name === 'out' ? state.detail : 'overloaded'}`)
      .join('; ');
  }
}
