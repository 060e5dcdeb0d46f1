import { turnBytes } from '../../domain/request.ts';
import type { Task, TaskState } from './task.ts';

/**
 * The turns of one conversation, judged one after another: a turn is sent when the one before it has been
 * answered, so that the guard can build on what its cache session holds.
 */
export class Conversation {
  readonly #turns: Task[] = [];
  readonly #places = new Map<Task, number>();
  #active = 0;
  /** No turn before this one is idle. */
  #from = 0;
  /** Messages measured so far, and their bytes. */
  #measured = 0;
  #bytes = 0;

  /** Takes the next turn in, which is idle. Returns how many bytes it sends: those of all messages up to it. */
  add(turn: Task): number {
    const { request } = turn;
    if (request.requestType !== 'multiturn') throw new Error('a turn is not of a conversation');
    this.#places.set(turn, this.#turns.length);
    this.#turns.push(turn);
    // Each turn sends what the one before it did, and more: to measure each anew would take the square of their number.
    for (; this.#measured < request.turns; this.#measured++) {
      this.#bytes += turnBytes(request.messages[this.#measured]!);
    }
    return this.#bytes;
  }

  /** A turn has another state than `before`. */
  changed(turn: Task, before: TaskState): void {
    if (before === 'active') this.#active--;
    if (turn.state === 'active') this.#active++;
    else if (turn.state === 'idle') this.#from = Math.min(this.#from, this.#places.get(turn)!);
  }

  /** The turn to send now: the first idle one, as long as no other turn is on its way. */
  next(): Task | null {
    if (this.#active > 0) return null;
    while (this.#from < this.#turns.length && this.#turns[this.#from]!.state !== 'idle') this.#from++;
    return this.#turns[this.#from] ?? null;
  }
}
