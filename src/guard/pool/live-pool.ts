import { setMaxListeners } from 'node:events';
import { Failure } from '../../domain/failure.ts';
import type { Fingerprint } from '../../domain/fingerprint.ts';
import type { Outcome } from '../../domain/outcome.ts';
import { type ItemError, itemError } from '../../domain/item-error.ts';
import type { GuardRequest, MediaKind } from '../../domain/request.ts';
import { sayWhenSlow } from '../../domain/start-notice.ts';
import { abortable } from '../../flow/abortable.ts';
import { Admission } from '../../flow/admission.ts';
import { WINDOW_BATCHES } from '../tasks/batch-lane.ts';
import type { Reading } from '../protocol/connection.ts';
import { Conversation } from '../tasks/conversation.ts';
import type { Dispatcher } from '../endpoint/dispatcher.ts';
import { Endpoint, type EndpointStatus, type EndpointTarget } from '../endpoint/endpoint.ts';
import { Judging } from '../tasks/judging.ts';
import type { GuardPool, JudgeOptions } from './pool.ts';
import { messageOf, notTaken, Task } from '../tasks/task.ts';
import { TaskQueue } from '../tasks/task-queue.ts';
import { type Signature, signatureOfMedia } from '../tensors/encode-request.ts';

/** Once one guard is ready, how long the start waits for the others, in milliseconds. */
const OTHERS_TIMEOUT_MS = 5000;
/**
 * Most items in the pool, those included that are answered and wait for a version reading; further calls wait to be let
 * in. It bounds memory; what keeps the guards busy is bounded by what they can use.
 */
const MAX_ITEMS = 65_536;
/** So many items may wait for an endpoint, however little the endpoints can use. */
const MIN_BACKLOG = 1024;
/**
 * Guards that come back count as progress so many times in a row without a verdict: an item that keeps a guard busy for
 * long takes a few such times until it ends as an error, and must not end the run.
 */
const MAX_RETURNS = 25;
/** How often a pool that waits for a slow guard looks whether it still does, in milliseconds. */
const WATCH_MS = 1000;

/** How a pool starts. */
interface PoolStart {
  /** How long it waits for guards, in milliseconds. */
  readonly timeoutMs: number;
  /** When that time began to run, by `performance.now()`. */
  readonly begunAt: number;
  /** Takes one line for people when it takes long. */
  readonly say: (message: string) => void;
}

/**
 * A pool of endpoints. What comes in waits in a backlog, of which each endpoint takes what it can send at once; what an
 * endpoint had when it went out comes back there. It gives up when no endpoint returns.
 */
export class LivePool implements GuardPool {
  readonly #endpoints: readonly Endpoint[];
  readonly #expectFingerprint: string | null;
  readonly #maxWaitMs: number;
  readonly #fingerprints = new Map<string, Fingerprint>();
  readonly #listeners = new Set<(endpoints: readonly EndpointStatus[]) => void>();
  readonly #admission = new Admission(MAX_ITEMS, (arriving) => this.#hasRoom(arriving));
  readonly #live = new Set<Judging>();
  /** What waits for an endpoint. */
  readonly #backlog = new TaskQueue();
  /** Of what waits, the kinds that no endpoint in use takes, and since when. */
  readonly #unserved = new Map<Signature, number>();
  readonly #mediaAskedFor = new Map<Signature, MediaKind>();
  #sessions = 0;
  /** When something was last judged, a guard came back, or work came in with nothing else under way. */
  #progressAt = 0;
  /** Guards that have come back since something was last judged. */
  #returns = 0;
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
      const options = {
        requestTimeoutMs,
        backlog: this.#backlog,
        isOneOfMany: () => this.#inUse > 1,
        mediaAskedFor: this.#mediaAskedFor,
      };
      const endpoint: Endpoint = new Endpoint(target, options, {
        taken: () => this.#admission.admit(),
        ready: () => this.#ready(),
        unusable: (error) =>
          this.#refuseStart?.(
            new Failure('service', `guard ${endpoint.name}: ${error.message}`, { cause: error }),
          ),
        out: (undone) => this.#out(undone),
        succeeded: () => {
          this.#progressAt = performance.now();
          this.#returns = 0;
        },
        accept: (reading) => this.#accept(endpoint, reading),
        crashed: (error) => this.#fail(new Failure('internal', 'the guard client failed', { cause: error })),
      });
      return endpoint;
    });
  }

  get fingerprints(): ReadonlyMap<string, Fingerprint> {
    return this.#fingerprints;
  }

  /** Waits as `connectGuards` says. */
  async start({ timeoutMs, begunAt, say }: PoolStart, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const missing = (): string | null => (this.#usable() ? null : this.#describeOut());
    const endNotice = sayWhenSlow({ subject: 'a guard', limitMs: timeoutMs, missing, say });
    const timers: NodeJS.Timeout[] = [];
    let over = false;
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
          // Endpoints also end their start when they are closed, and some start late.
          if (over) return;
          if (this.#failure !== null) reject(this.#failure);
          else if (--starting === 0) resolve();
          else timers.push(setTimeout(resolve, OTHERS_TIMEOUT_MS));
        };
        for (const endpoint of this.#endpoints) endpoint.start().then(started, reject);
      });
    } finally {
      over = true;
      endNotice();
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
      this.#begin(judging, requests, options);
      return await judging.promise;
    } finally {
      signal.removeEventListener('abort', abort);
      this.#live.delete(judging);
      this.#admission.leave(requests.length);
      if (this.#live.size === 0) this.#endWatch();
    }
  }

  #begin(judging: Judging, requests: readonly GuardRequest[], options: JudgeOptions): void {
    try {
      if (this.#failure !== null) throw this.#failure;
      // Whoever stands at the door may have been let in because the same signal made others give up.
      options.signal.throwIfAborted();
      if (this.#live.size === 0) this.#progressAt = performance.now();
      this.#live.add(judging);
      this.#place(this.#tasksOf(judging, requests, options.session), options.endpoint ?? null);
      this.#keepWatch();
    } finally {
      this.#admission.arrived(requests.length);
    }
  }

  async notJudged(kind: MediaKind, signal: AbortSignal): Promise<ItemError | null> {
    this.#mediaAskedFor.set(signatureOfMedia(kind), kind);
    const asked = Promise.all(this.#endpoints.map((endpoint) => endpoint.judges(kind)));
    const answers = await abortable(asked, signal);
    if (answers.includes('maybe')) return null;
    const message = answers.includes('no probe') ? messageOf('PROBE_NOT_LOADED') : notTaken(kind);
    return itemError('PROBE_NOT_LOADED', message);
  }

  get waiting(): number {
    return this.#backlog.size;
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
        // The guard's cache is for conversations; the session of one that is judged once is its own.
        const own = request.requestType === 'multiturn' ? `${session}-item-${this.#sessions++}` : '';
        tasks.push(new Task(judging, index, request, own, null));
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
    for (const task of tasks) {
      const dispatcher = preferred === null ? null : this.#preferred(preferred, task.signature);
      if (dispatcher !== null) {
        dispatcher.accept(task);
        continue;
      }
      task.state = 'active';
      this.#backlog.add(task);
    }
    this.#serveBacklog();
  }

  #preferred(name: string, signature: Signature): Dispatcher | null {
    const endpoint = this.#endpoints.find((one) => one.name === name);
    return endpoint?.takes(signature) === true ? endpoint.dispatcher : null;
  }

  /** After every change of the backlog or of the endpoints in use. */
  #serveBacklog(): void {
    for (const signature of this.#backlog.signatures) {
      if (!this.#endpoints.some((endpoint) => endpoint.takes(signature))) {
        for (const task of this.#backlog.drain(signature)) task.settleNotTaken();
      }
    }
    this.#placeAlone();
    this.#noteUnserved();
    for (const { dispatcher } of this.#endpoints) dispatcher?.wake();
    this.#admission.admit();
  }

  get #inUse(): number {
    return this.#endpoints.filter(({ dispatcher }) => dispatcher !== null).length;
  }

  /** What must be in flight alone has one endpoint wait for it, not all of them. */
  #placeAlone(): void {
    const placeable = (task: Task): boolean => this.#leastLoaded(task.signature) !== null;
    for (const task of this.#backlog.takeAlone(placeable)) this.#leastLoaded(task.signature)?.accept(task);
  }

  /** Null when none in use takes such requests. */
  #leastLoaded(signature: Signature): Dispatcher | null {
    let least: Dispatcher | null = null;
    for (const endpoint of this.#endpoints) {
      const { dispatcher } = endpoint;
      if (dispatcher === null || !endpoint.takes(signature)) continue;
      if (least === null || dispatcher.load < least.load) least = dispatcher;
    }
    return least;
  }

  #noteUnserved(): void {
    const waiting = this.#backlog.signatures;
    for (const signature of this.#unserved.keys()) {
      if (!waiting.has(signature)) this.#unserved.delete(signature);
    }
    for (const signature of waiting) {
      if (this.#leastLoaded(signature) !== null) this.#unserved.delete(signature);
      else if (!this.#unserved.has(signature)) this.#unserved.set(signature, performance.now());
    }
  }

  /** Whether more may come in: enough for every endpoint's limit and for the window that batches are cut from. */
  #hasRoom(arriving: number): boolean {
    let useful = 0;
    let starved = false;
    for (const endpoint of this.#endpoints) {
      const { rows, batch } = endpoint.capacity;
      useful += rows + WINDOW_BATCHES * batch;
      starved ||= endpoint.dispatcher !== null && !this.#backlog.hasFor((kind) => endpoint.takes(kind));
    }
    if (this.#backlog.size + arriving < Math.max(MIN_BACKLOG, useful)) return true;
    // What waits for the others must not keep its work from an endpoint.
    return starved && arriving < MIN_BACKLOG;
  }

  #ready(): void {
    if (++this.#returns <= MAX_RETURNS) this.#progressAt = performance.now();
    this.#serveBacklog();
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
    this.#backlog.sweep();
    this.#noteUnserved();
    for (const { dispatcher } of this.#endpoints) dispatcher?.sweep();
    this.#admission.admit();
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
   * those that take some of what waits.
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
    return Math.min(Number.POSITIVE_INFINITY, ...this.#unserved.values());
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
