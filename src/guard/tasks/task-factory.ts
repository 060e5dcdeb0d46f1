import type { GuardRequest } from '../../domain/request.ts';
import { Conversation } from './conversation.ts';
import { Task, type TaskOwner } from './task.ts';

/** Makes the tasks of each call to a pool. */
export class TaskFactory {
  /** Cache sessions made for conversations that are judged once. */
  #sessions = 0;

  /** One task per request, task i having index i. Returns those to place now: of a conversation only the first turn. */
  create(owner: TaskOwner, requests: readonly GuardRequest[], session: string): Task[] {
    const conversations = new Map<number, Conversation>();
    const tasks: Task[] = [];
    for (const [index, request] of requests.entries()) {
      const first = request.requestType === 'multiturn' ? request.conversation : null;
      if (first === null) {
        // Only conversations use the guard's cache. One that is judged once gets a cache session of its own.
        const own = request.requestType === 'multiturn' ? `${session}-item-${this.#sessions++}` : '';
        tasks.push(new Task(owner, index, request, own, null));
        continue;
      }
      const earlier = conversations.get(first);
      const conversation = earlier ?? new Conversation();
      conversations.set(first, conversation);
      const task = new Task(owner, index, request, `${session}-${first}`, conversation);
      if (earlier === undefined) tasks.push(task);
    }
    return tasks;
  }
}
