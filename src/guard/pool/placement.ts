import type { Dispatcher } from '../endpoint/dispatcher.ts';
import type { Endpoint } from '../endpoint/endpoint.ts';
import { WINDOW_BATCHES } from '../tasks/batch-lane.ts';
import { GuardStreamError } from '../streams/guard-stream-error.ts';
import type { Task } from '../tasks/task.ts';
import type { TaskQueue } from '../tasks/task-queue.ts';
import type { RequestKind } from '../tensors/encode-request.ts';

/** This many tasks may always wait in the backlog, however little the endpoints can use. */
const MIN_BACKLOG = 1024;

/**
 * Decides which endpoint gets which task. By default none: tasks wait in the shared backlog, from which each endpoint
 * takes what it can send at once. Only tasks with a preference, and tasks that must be in flight alone, are assigned to
 * one endpoint, so only that endpoint drains for them.
 */
export class Placement {
  readonly #backlog: TaskQueue;
  readonly #endpoints: readonly Endpoint[];
  /**
   * Kinds of requests in the backlog that no endpoint in use takes, with the start of the wait, by `performance.now()`.
   */
  readonly #unserved = new Map<RequestKind, number>();

  constructor(backlog: TaskQueue, endpoints: readonly Endpoint[]) {
    this.#backlog = backlog;
    this.#endpoints = endpoints;
  }

  /** `preferred` names the endpoint that gets the tasks it can take. */
  place(tasks: readonly Task[], preferred: string | null): void {
    for (const task of tasks) {
      const dispatcher = preferred === null ? null : this.#preferred(preferred, task.requestKind);
      if (dispatcher !== null) {
        dispatcher.assign(task);
        continue;
      }
      task.state = 'active';
      this.#backlog.add(task);
    }
    this.serve();
  }

  /** Must be called after every change of the backlog or of the endpoints in use. */
  serve(): void {
    for (const requestKind of this.#backlog.requestKinds) {
      if (!this.#endpoints.some((endpoint) => endpoint.takes(requestKind))) {
        for (const task of this.#backlog.drain(requestKind)) task.settleNotTaken();
      }
    }
    this.#assignAlone();
    this.#noteUnserved();
    for (const { dispatcher } of this.#endpoints) dispatcher?.wake();
  }

  /** Drops abandoned tasks. */
  sweep(): void {
    this.#backlog.sweep();
    this.#noteUnserved();
    for (const { dispatcher } of this.#endpoints) dispatcher?.sweep();
  }

  /**
   * Time since which tasks wait that no endpoint in use takes, though others may be judging; infinite when there are
   * none.
   */
  get unservedSince(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...this.#unserved.values());
  }

  /**
   * Whether `arriving` more tasks may enter. The backlog holds enough for every endpoint's limit and for the windows
   * that batches are cut from.
   */
  hasRoom(arriving: number): boolean {
    let useful = 0;
    let starved = false;
    for (const endpoint of this.#endpoints) {
      const { rows, batch } = endpoint.capacity;
      useful += rows + WINDOW_BATCHES * batch;
      starved ||= endpoint.dispatcher !== null && !this.#backlog.hasFor((kind) => endpoint.takes(kind));
    }
    if (this.#backlog.size + arriving < Math.max(MIN_BACKLOG, useful)) return true;
    // A backlog full of tasks for other endpoints must not starve this one.
    return starved && arriving < MIN_BACKLOG;
  }

  #preferred(name: string, requestKind: RequestKind): Dispatcher | null {
    const endpoint = this.#endpoints.find((one) => one.name === name);
    return endpoint?.takes(requestKind) === true ? endpoint.dispatcher : null;
  }

  #assignAlone(): void {
    const placeable = (task: Task): boolean => this.#leastLoaded(task.requestKind) !== null;
    for (const task of this.#backlog.takeAlone(placeable)) this.#leastLoaded(task.requestKind)?.assign(task);
  }

  /** The endpoint with the least load; null when no endpoint in use takes such requests. */
  #leastLoaded(requestKind: RequestKind): Dispatcher | null {
    let least: Dispatcher | null = null;
    for (const endpoint of this.#endpoints) {
      const { dispatcher } = endpoint;
      if (dispatcher === null || !endpoint.takes(requestKind)) continue;
      if (least === null || dispatcher.load < least.load) least = dispatcher;
    }
    return least;
  }

  #noteUnserved(): void {
    const waiting = this.#backlog.requestKinds;
    for (const requestKind of this.#unserved.keys()) {
      if (!waiting.has(requestKind)) this.#unserved.delete(requestKind);
    }
    for (const requestKind of waiting) {
      if (this.#leastLoaded(requestKind) !== null) this.#unserved.delete(requestKind);
      else if (!this.#unserved.has(requestKind)) this.#unserved.set(requestKind, performance.now());
    }
  }
}

/** Finds the endpoint in use that supports streams and has the fewest open. Throws `GuardStreamError`. */
export function dispatcherForStream(endpoints: readonly Endpoint[]): Dispatcher {
  const taking = endpoints.filter((endpoint) => endpoint.takes('generation'));
  if (taking.length === 0)
    throw new GuardStreamError('UNIMPLEMENTED', 'none of the guards takes moderation streams');
  const ready = taking.flatMap(({ dispatcher }) => dispatcher ?? []);
  if (ready.length === 0) {
    throw new GuardStreamError('UNAVAILABLE', 'no guard that takes moderation streams is ready');
  }
  const [fewest] = ready
    .filter(({ streams }) => streams.isFree)
    .sort((one, other) => one.streams.size - other.streams.size);
  if (fewest === undefined) {
    throw new GuardStreamError('RESOURCE_EXHAUSTED', 'the guards have as many streams open as they take');
  }
  return fewest;
}
