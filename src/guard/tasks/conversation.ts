import { turnBytes } from '../../domain/request.ts';
import type { Task, TaskState } from './task.ts';

/**
 * The turns of one conversation, judged in order. Invariant: at most one turn is active. The next turn is sent when the
 * previous one has been answered, so the guard can reuse its KV cache.
 */
export class Conversation {
  readonly #turns: Task[] = [];
  readonly #places = new Map<Task, number>();
  #active = 0;
  /** No turn before this index is idle. */
  #from = 0;
  /** Messages measured so far, and their size. */
  #measured = 0;
  #bytes = 0;

  /** Appends an idle turn. Returns its size in bytes: each turn sends all messages up to its own. */
  add(turn: Task): number {
    const { request } = turn;
    if (request.requestType !== 'multiturn') throw new Error('a turn is not of a conversation');
    this.#places.set(turn, this.#turns.length);
    this.#turns.push(turn);
    // Measures only the new messages: measuring the whole history for each turn would take quadratic time.
    for (; this.#measured < request.turns; this.#measured++) {
      this.#bytes += turnBytes(request.messages[this.#measured]!);
    }
    return this.#bytes;
  }

  /** Called when the state of a turn changed from `before`. */
  changed(turn: Task, before: TaskState): void {
    if (before === 'active') this.#active--;
    if (turn.state === 'active') this.#active++;
    else if (turn.state === 'idle') this.#from = Math.min(this.#from, this.#places.get(turn)!);
  }

  /** The turn to send now: the first idle one if no turn is active. */
  next(): Task | null {
    if (this.#active > 0) return null;
    while (this.#from < this.#turns.length && this.#turns[this.#from]!.state !== 'idle') this.#from++;
    return this.#turns[this.#from] ?? null;
  }
}
