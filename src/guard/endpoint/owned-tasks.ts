import { setTimeout as sleep } from 'node:timers/promises';
import type { ItemCode } from '../../domain/item-error.ts';
import type { OutReason } from '../protocol/call-error.ts';
import { MAX_ATTEMPTS, type Task } from '../tasks/task.ts';
import { TaskQueue } from '../tasks/task-queue.ts';
import type { EndpointEvents, RetryCause } from './events.ts';
import type { Flight } from './in-flight.ts';

/** Max times an item is judged again because the model kept changing; it then ends in an error. */
const MAX_REJUDGED = 50;
/** After this many drops, an item is sent alone, to find out whether it is the one that brings guards down. */
const DROPS_BEFORE_ALONE = 2;

interface OwnedTasksOptions {
  /** Name as recorded in outcomes. */
  readonly endpoint: string;
  readonly events: Pick<EndpointEvents, 'retried'>;
  /** Called when tasks were added to the queue. */
  readonly wake: () => void;
  /** Aborted when the endpoint goes out of use. */
  readonly signal: AbortSignal;
}

/** How a task is sent again. Omitted fields stay unchanged. */
interface Form {
  readonly maxRows?: number;
  readonly alone?: boolean;
}

/**
 * The tasks of one endpoint: those queued, delayed or in flight there, or answered and not yet settled. Each leaves in
 * exactly one way: it is settled, or given back when the endpoint goes out of use. Until then it may be sent again.
 */
export class OwnedTasks {
  /** Tasks that only this endpoint sends. */
  readonly queue = new TaskQueue();
  readonly #options: OwnedTasksOptions;
  readonly #tasks = new Set<Task>();

  constructor(options: OwnedTasksOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#tasks.size;
  }

  /** Adds tasks taken from the backlog, which are sent at once. */
  own(tasks: readonly Task[]): void {
    for (const task of tasks) this.#tasks.add(task);
  }

  /** Adds a task to be judged by this endpoint and no other, as long as the endpoint is in use. */
  assign(task: Task): void {
    task.state = 'active';
    this.#tasks.add(task);
    this.#enqueue([task]);
  }

  /** Removes a task that is settled or about to be. */
  release(task: Task): void {
    this.#tasks.delete(task);
  }

  /** Ends a task in an error. For `answer`, see `Task.settleError`. */
  settleError(task: Task, code: ItemCode, counted: boolean, answer: string | null = null): void {
    this.release(task);
    task.settleError(code, this.#options.endpoint, counted, answer);
    this.advance(task);
  }

  /** Judges a task again whose answer is void, because the model changed around it. Not counted as an attempt. */
  judgeAgain(task: Task): void {
    this.#options.events.retried('MODEL_CHANGED');
    if (++task.rejudged > MAX_REJUDGED) {
      this.settleError(task, 'GUARD_INTERNAL', true);
      return;
    }
    task.state = 'idle';
    const next = task.conversation === null ? task : task.conversation.next();
    if (next !== null) this.assign(next);
  }

  /** Sends the next turn of the task's conversation to this endpoint, which holds the cache session. */
  advance(task: Task): void {
    const next = task.conversation?.next();
    if (next && !next.abandoned) this.assign(next);
  }

  sendAgain(tasks: readonly Task[], form: Form, cause: RetryCause, delayMs: number): void {
    const { events, signal } = this.#options;
    if (signal.aborted) return;
    events.retried(cause);
    for (const task of tasks) {
      task.maxRows = Math.min(task.maxRows, form.maxRows ?? task.maxRows);
      task.alone ||= form.alone === true;
    }
    if (delayMs === 0) this.#enqueue(tasks);
    else {
      sleep(delayMs, undefined, { signal }).then(
        () => this.#enqueue(tasks.filter((task) => !task.abandoned)),
        () => {},
      );
    }
  }

  /** Handles tasks that timed out while the guard answers other requests. */
  timedOut(tasks: readonly Task[], overtaken: boolean, delayMs: number): void {
    const again: Task[] = [];
    for (const task of tasks) {
      task.noteTimeout(overtaken);
      if (task.attempts >= MAX_ATTEMPTS) this.settleError(task, 'TIMEOUT', false);
      else again.push(task);
    }
    if (again.length > 0) this.sendAgain(again, {}, 'TIMEOUT', delayMs);
  }

  /**
   * Notes that the endpoint went down, or stopped answering, with this request in flight. A task that was alone in
   * flight each of MAX_ATTEMPTS times ends as an error.
   */
  noteOutage({ tasks }: Flight, reason: OutReason): void {
    const isSilent = reason === 'no answer in time';
    for (const task of tasks) {
      if (task.abandoned) continue;
      if (isSilent) task.noteTimeout(false);
      else {
        if (task.alone) task.attempts++;
        if (++task.drops >= DROPS_BEFORE_ALONE) task.alone = true;
      }
      if (task.attempts >= MAX_ATTEMPTS) {
        task.settleError(isSilent ? 'TIMEOUT' : 'GUARD_UNAVAILABLE', this.#options.endpoint, false);
      }
    }
  }

  /** Drops abandoned tasks. */
  sweep(): void {
    this.queue.sweep();
    for (const task of this.#tasks) if (task.abandoned) this.#tasks.delete(task);
  }

  /** Returns all tasks when the endpoint goes out of use: idle, except for those that `noteOutage` settled. */
  giveBack(): Task[] {
    const undone = [...this.#tasks].filter((task) => !task.abandoned);
    for (const task of undone) {
      task.arrival = null;
      if (task.state !== 'settled') task.state = 'idle';
    }
    this.#tasks.clear();
    return undone;
  }

  #enqueue(tasks: readonly Task[]): void {
    for (const task of tasks) this.queue.add(task);
    this.#options.wake();
  }
}
