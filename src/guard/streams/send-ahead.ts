/** How many chunks a client sends ahead of the verdicts. */
export interface SendAhead {
  /** Max chunks without a verdict; the next chunk waits for one. */
  limit(): number;
  /** How long to wait for a verdict before `widen` is called, in milliseconds; infinite: it never is. */
  patienceMs(): number;
  /** No verdict came in that time although `limit` chunks wait for one. Raises the limit if it may. */
  widen(): void;
  /** A verdict judged more chunks, before the end of the stream. */
  progressed(): void;
}

/** Always the same limit. */
export function fixedAhead(limit: number): SendAhead {
  return {
    limit: () => limit,
    patienceMs: () => Number.POSITIVE_INFINITY,
    widen: () => {},
    progressed: () => {},
  };
}

/** Max factor between the cadence asked for and the one that a guard turns out to have. */
const MAX_FACTOR = 64;

/**
 * What is known about the cadence of one guard. A replayed generation sends as many chunks as its cadence and waits for
 * their verdict before it sends more: so what is judged together does not depend on timing, and a second replay finds
 * the same. But the contract does not show how a client sets the cadence, so a guard may wait for more chunks. Until it
 * has given a first verdict, each time that it gives none for a while the number of chunks is doubled. The result is kept
 * for later generations.
 */
export class KnownCadence {
  readonly #patienceMs: number;
  #factor = 1;
  #confirmed = false;

  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs;
  }

  /** For a generation that asks for a verdict after every `chunks` chunks. */
  ahead(chunks: number): SendAhead {
    // Several generations may wait at the same time: each doubles its own factor.
    let own = this.#factor;
    const factor = (): number => Math.max(own, this.#factor);
    const mayWiden = (): boolean => !this.#confirmed && factor() < MAX_FACTOR;
    return {
      limit: () => chunks * factor(),
      patienceMs: () => (mayWiden() ? this.#patienceMs : Number.POSITIVE_INFINITY),
      widen: () => {
        if (!mayWiden()) return;
        own *= 2;
        this.#factor = Math.max(own, this.#factor);
      },
      progressed: () => {
        this.#confirmed = true;
      },
    };
  }
}

/** First and longest wait of `polledAhead`, in milliseconds. Each wait without a verdict doubles the next. */
const MIN_POLL_MS = 10;
const MAX_POLL_MS = 1000;
/** Max chunks that `polledAhead` sends beyond the cadence. */
const MAX_POLLS = 64;

/**
 * For a transport that gives verdicts only in reply to a message (WebSocket): each further chunk asks how far the guard
 * is, and a guard that is slow is asked more slowly.
 */
export function polledAhead(chunks: number): SendAhead {
  let polls = 0;
  return {
    limit: () => chunks + polls,
    patienceMs: () =>
      polls < MAX_POLLS ? Math.min(MAX_POLL_MS, MIN_POLL_MS * 2 ** polls) : Number.POSITIVE_INFINITY,
    widen: () => {
      polls++;
    },
    progressed: () => {
      polls = 0;
    },
  };
}
