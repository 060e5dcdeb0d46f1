/** A reason is said at most this often, in milliseconds: who can fill a queue must not fill a log. */
const SAY_EVERY_MS = 60_000;

interface Account {
  saidAt: number;
  since: number;
}

/** Counts what is dropped, by reason, and says so: the first of a reason at once, further ones together once a minute. */
export class DroppedJobs {
  readonly #say: (message: string) => void;
  readonly #counted: (reason: string) => void;
  readonly #accounts = new Map<string, Account>();

  /** `counted` is told of each; its reasons are few. */
  constructor(say: (message: string) => void, counted: (reason: string) => void) {
    this.#say = say;
    this.#counted = counted;
  }

  /** Counts one that was dropped as happens in a fleet that is well. */
  count(reason: string): void {
    this.#counted(reason);
  }

  /** Counts one that was dropped; `message` says of which run, and why. */
  drop(reason: string, message: string): void {
    this.count(reason);
    this.say(reason, message);
  }

  /** Says something of a kind that comes often. */
  say(kind: string, message: string): void {
    const now = performance.now();
    const account = this.#accounts.get(kind) ?? { saidAt: Number.NEGATIVE_INFINITY, since: 0 };
    this.#accounts.set(kind, account);
    account.since++;
    if (now - account.saidAt < SAY_EVERY_MS) return;
    const more = account.since > 1 ? ` (${account.since} of them since that was last said)` : '';
    this.#say(message + more);
    account.saidAt = now;
    account.since = 0;
  }
}
