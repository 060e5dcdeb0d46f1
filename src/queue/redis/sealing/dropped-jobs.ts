/** Min interval between messages of one kind, in milliseconds: a flooded queue must not flood the log. */
const MIN_INTERVAL_MS = 60_000;

interface Account {
  loggedAt: number;
  /** Messages since then. */
  count: number;
}

/**
 * Counts dropped jobs by reason and logs them: the first of each reason immediately, further ones together at most once a
 * minute.
 */
export class DroppedJobs {
  readonly #say: (message: string) => void;
  readonly #counted: (reason: string) => void;
  readonly #accounts = new Map<string, Account>();

  /** `counted` is called for each job with its reason, one of a few. */
  constructor(say: (message: string) => void, counted: (reason: string) => void) {
    this.#say = say;
    this.#counted = counted;
  }

  /** Counts a job without logging it, for drops that are normal in a healthy fleet. */
  count(reason: string): void {
    this.#counted(reason);
  }

  /** Counts and logs a job; `message` names the run and the cause. */
  drop(reason: string, message: string): void {
    this.count(reason);
    this.say(reason, message);
  }

  /** Logs a message of a kind that may be frequent. */
  say(kind: string, message: string): void {
    const now = performance.now();
    const account = this.#accounts.get(kind) ?? { loggedAt: Number.NEGATIVE_INFINITY, count: 0 };
    this.#accounts.set(kind, account);
    account.count++;
    if (now - account.loggedAt < MIN_INTERVAL_MS) return;
    const more = account.count > 1 ? ` (${account.count} since the last message)` : '';
    this.#say(message + more);
    account.loggedAt = now;
    account.count = 0;
  }
}
