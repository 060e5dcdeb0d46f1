import type { ItemCode } from '../../domain/item-error.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { DispatcherHooks } from '../endpoint/dispatcher-hooks.ts';
import type { Sender } from '../endpoint/sender.ts';
import { MAX_ATTEMPTS, type Task } from './task.ts';

/** Times an item is judged again because the model kept changing, before it ends in an error. */
const MAX_REJUDGED = 50;
/** Drops an item may take part in before it is sent alone, to learn whether it is the one that brings guards down. */
const DROPS_BEFORE_ALONE = 2;

export interface OwnedTasksOptions {
  /** As recorded in outcomes. */
  readonly endpoint: string;
  readonly sender: Pick<Sender, 'enqueue' | 'enqueueLater'>;
  readonly retried: DispatcherHooks['retried'];
}

/** How a task is sent again; what is left out stays as it was. */
export interface Form {
  readonly maxRows?: number;
  readonly alone?: boolean;
}

/**
 * The tasks that one endpoint is to bring to an end. Each is settled here, sent again, or, once the endpoint is of no
 * use any more, given back.
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

  /** These are sent already. */
  take(tasks: readonly Task[]): void {
    for (const task of tasks) this.#tasks.add(task);
  }

  /** Takes on a task that is to be judged here and nowhere else, as long as the endpoint is in use. */
  accept(task: Task): void {
    task.state = 'active';
    this.#tasks.add(task);
    this.#options.sender.enqueue(task);
  }

  settle(task: Task, outcome: Outcome): void {
    this.#tasks.delete(task);
    task.settle(outcome);
  }

  settleError(task: Task, code: ItemCode, counted: boolean): void {
    this.#tasks.delete(task);
    task.settleError(code, this.#options.endpoint, counted);
    this.advance(task);
  }

  /** The model changed around this answer. Costs no try. */
  judgeAgain(task: Task): void {
    this.#options.retried('MODEL_CHANGED');
    if (++task.rejudged > MAX_REJUDGED) {
      this.settleError(task, 'GUARD_INTERNAL', true);
      return;
    }
    task.state = 'idle';
    const next = task.conversation === null ? task : task.conversation.next();
    if (next !== null) this.accept(next);
  }

  /** Lets the next turn of a conversation go, to this endpoint, which has the session. */
  advance(task: Task): void {
    const next = task.conversation?.next();
    if (next && !next.abandoned) this.accept(next);
  }

  sendAgain(tasks: readonly Task[], form: Form, cause: ItemCode, delayMs: number): void {
    if (this.#over) return;
    const { retried, sender } = this.#options;
    retried(cause);
    for (const task of tasks) {
      task.maxRows = Math.min(task.maxRows, form.maxRows ?? task.maxRows);
      task.alone ||= form.alone === true;
    }
    if (delayMs === 0) for (const task of tasks) sender.enqueue(task);
    else sender.enqueueLater(tasks, delayMs);
  }

  /** These were not answered in time, but the guard answers others. */
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
   * The endpoint stopped answering with these in flight: one that was alone at several such moments ends as `TIMEOUT`.
   */
  noteSilence(tasks: readonly Task[]): void {
    for (const task of tasks) {
      task.noteTimeout(false);
      if (task.attempts >= MAX_ATTEMPTS) task.settleError('TIMEOUT', this.#options.endpoint, false);
    }
  }

  /** The endpoint went down with these in flight: one that was alone at several such moments ends as an error. */
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

  /** Gives up what nobody waits for any more. */
  sweep(): void {
    for (const task of this.#tasks) if (task.abandoned) this.#tasks.delete(task);
  }

  /** Ends it, and returns what is undone: idle, but for what was settled as it went down. */
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
