import type { Outcome } from '../../domain/outcome.ts';
import type { GuardRequest } from '../../domain/request.ts';
import { Conversation } from './conversation.ts';
import { Task, type TaskOwner } from './task.ts';

/** One call of `judge`: creates its tasks, and collects their outcomes, which arrive in any order. */
export class Judging implements TaskOwner {
  readonly promise: Promise<Outcome[]>;
  /** The tasks to place now; only the first turn of a conversation. */
  readonly tasks: readonly Task[];
  readonly #outcomes: Outcome[];
  #missing: number;
  #over = false;
  #resolve!: (outcomes: Outcome[]) => void;
  #reject!: (error: unknown) => void;

  /** `session` is the prefix of the guard's cache session ids. `number` returns a new number on each call. */
  constructor(requests: readonly GuardRequest[], session: string, number: () => number) {
    this.#outcomes = new Array<Outcome>(requests.length);
    this.#missing = requests.length;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.tasks = this.#makeTasks(requests, session, number);
  }

  /** Whether the call has been answered, so its remaining tasks need not be judged. */
  get over(): boolean {
    return this.#over;
  }

  settle(index: number, outcome: Outcome): void {
    if (this.#over) return;
    this.#outcomes[index] = outcome;
    if (--this.#missing > 0) return;
    this.#over = true;
    this.#resolve(this.#outcomes);
  }

  fail(error: unknown): void {
    if (this.#over) return;
    this.#over = true;
    this.#reject(error);
  }

  /** Creates one task per request; task i has index i. */
  #makeTasks(requests: readonly GuardRequest[], session: string, number: () => number): Task[] {
    const conversations = new Map<number, Conversation>();
    const tasks: Task[] = [];
    for (const [index, request] of requests.entries()) {
      const isConversation = request.requestType === 'multiturn';
      const first = isConversation ? request.conversation : null;
      if (first === null) {
        // Only conversations use the guard's cache. A conversation that is judged once gets its own cache session.
        const own = isConversation ? `${session}-item-${number()}` : '';
        tasks.push(new Task(this, index, request, own, null));
        continue;
      }
      const earlier = conversations.get(first);
      const conversation = earlier ?? new Conversation();
      conversations.set(first, conversation);
      const task = new Task(this, index, request, `${session}-${first}`, conversation);
      if (earlier === undefined) tasks.push(task);
    }
    return tasks;
  }
}
