import type { ItemCode } from '../../domain/item-error.ts';
import type { Outcome } from '../../domain/outcome.ts';
import { MAX_ATTEMPTS, type Task } from '../tasks/task.ts';
import type { EndpointEvents, RetryCause } from './events.ts';
import type { Sender } from './sender.ts';

/** Max times an item is judged again because the model kept changing; then it ends in an error. */
const MAX_REJUDGED = 50;
/** After this many drops an item is sent alone, to find out whether it is the one that brings guards down. */
const DROPS_BEFORE_ALONE = 2;

interface OwnedTasksOptions {
  /** Name as recorded in outcomes. */
  readonly endpoint: string;
  readonly sender: Pick<Sender, 'enqueue' | 'enqueueLater'>;
  readonly events: Pick<EndpointEvents, 'retried'>;
}

/** How a task is sent again. A field left out stays as it was. */
interface Form {
  readonly maxRows?: number;
  readonly alone?: boolean;
}

/**
 * The tasks of one endpoint: those queued, delayed or in flight there, or answered and not yet settled. Each ends here in
 * exactly one way: it is settled, or given back when the endpoint goes out of use. Until then it may be sent again.
 */
export class OwnedTasks {
  readonly #options: OwnedTasksOptions;
  readonly #tasks = new Set<Task>();
  #over = false;

  constructor(options: OwnedTasksOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#tasks.size;
  }

  /** Adds tasks taken from the backlog, which the sender is about to send. */
  own(tasks: readonly Task[]): void {
    for (const task of tasks) this.#tasks.add(task);
  }

  /** Adds a task to be judged by this endpoint and no other, as long as the endpoint is in use. */
  assign(task: Task): void {
    task.state = 'active';
    this.#tasks.add(task);
    this.#options.sender.enqueue(task);
  }

  settle(task: Task, outcome: Outcome): void {
    this.#tasks.delete(task);
    task.settle(outcome);
  }

  /** `answer`: see `Task.settleError`. */
  settleError(task: Task, code: ItemCode, counted: boolean, answer: string | null = null): void {
    this.#tasks.delete(task);
    task.settleError(code, this.#options.endpoint, counted, answer);
    this.advance(task);
  }

  /** The model changed around this answer, so the answer is void. Not counted as an attempt. */
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
    if (this.#over) return;
    const { events, sender } = this.#options;
    events.retried(cause);
    for (const task of tasks) {
      task.maxRows = Math.min(task.maxRows, form.maxRows ?? task.maxRows);
      task.alone ||= form.alone === true;
    }
    if (delayMs === 0) for (const task of tasks) sender.enqueue(task);
    else sender.enqueueLater(tasks, delayMs);
  }

  /** These timed out, but the guard answers other requests. */
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
   * The endpoint stopped answering with these in flight. A task that was alone in flight each of MAX_ATTEMPTS times ends as
   * `TIMEOUT`.
   */
  noteSilence(tasks: readonly Task[]): void {
    for (const task of tasks) {
      task.noteTimeout(false);
      if (task.attempts >= MAX_ATTEMPTS) task.settleError('TIMEOUT', this.#options.endpoint, false);
    }
  }

  /**
   * The endpoint went down with these in flight. A task that was alone in flight each of MAX_ATTEMPTS times ends as
   * `GUARD_UNAVAILABLE`.
   */
  noteDrop(tasks: readonly Task[]): void {
    for (const task of tasks) {
      task.drops++;
      if (task.alone) {
        task.attempts++;
        if (task.attempts >= MAX_ATTEMPTS) {
          task.settleError('GUARD_UNAVAILABLE', this.#options.endpoint, false);
        }
      }
      if (task.drops >= DROPS_BEFORE_ALONE) task.alone = true;
    }
  }

  /** Drops abandoned tasks. */
  sweep(): void {
    for (const task of this.#tasks) if (task.abandoned) this.#tasks.delete(task);
  }

  /** Ends this object. Returns its tasks: idle, except for those settled when the endpoint went down. */
  giveBack(): Task[] {
    this.#over = true;
    const undone = [...this.#tasks].filter((task) => !task.abandoned);
    for (const task of undone) {
      task.arrival = null;
      if (task.state !== 'settled') task.state = 'idle';
    }
    this.#tasks.clear();
    return undone;
  }
}
