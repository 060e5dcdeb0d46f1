/** Totals of the requests sent to an endpoint. */
export interface Sent {
  readonly requests: number;
  readonly rows: number;
  /**
   * Rows that these requests had room for: the model's max batch size for kinds sent in batches, otherwise one each.
   */
  readonly room: number;
  /** Time in which the endpoint had spare capacity and no suitable task was waiting, in milliseconds. */
  readonly idleMs: number;
}

export const NOTHING_SENT: Sent = { requests: 0, rows: 0, room: 0, idleMs: 0 };

export function sumOfSent(a: Sent, b: Sent): Sent {
  return {
    requests: a.requests + b.requests,
    rows: a.rows + b.rows,
    room: a.room + b.room,
    idleMs: a.idleMs + b.idleMs,
  };
}

/** Counts what one sender sends, and how long it is idle. Initially idle. */
export class SentMeter {
  #requests = 0;
  #rows = 0;
  #room = 0;
  #idleMs = 0;
  /** By `performance.now()`; null while it is not idle. */
  #idleSince: number | null = performance.now();

  get total(): Sent {
    return { requests: this.#requests, rows: this.#rows, room: this.#room, idleMs: this.#idleMs };
  }

  sent(rows: number, room: number): void {
    this.#requests++;
    this.#rows += rows;
    this.#room += room;
  }

  /** Adds the time up to now, and notes whether the sender is idle from now on. */
  clock(isIdle: boolean): void {
    const now = performance.now();
    if (this.#idleSince !== null) this.#idleMs += now - this.#idleSince;
    this.#idleSince = isIdle ? now : null;
  }
}
