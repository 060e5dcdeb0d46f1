import type { LogFields, Say } from '../../../domain/say.ts';

/** Counts dropped jobs by reason, and logs the first of each reason. */
export class DroppedJobs {
  readonly #say: Say;
  readonly #counted: (reason: string) => void;
  readonly #said = new Set<string>();

  /** `counted` is called for each job with its reason, one of a small set. */
  constructor(say: Say, counted: (reason: string) => void) {
    this.#say = say;
    this.#counted = counted;
  }

  /** Counts a job without logging it, for drops that are normal in a healthy fleet. */
  count(reason: string): void {
    this.#counted(reason);
  }

  /** Counts a job, and logs the first of this reason; `message` names the run and the cause. */
  drop(reason: string, message: string, fields?: LogFields): void {
    this.count(reason);
    this.sayOnce(reason, message, fields);
  }

  /** Logs the first message of a kind. */
  sayOnce(kind: string, message: string, fields?: LogFields): void {
    if (this.#said.has(kind)) return;
    this.#said.add(kind);
    this.#say(message, { level: 'warn', event: 'job_dropped', code: kind, ...fields });
  }
}
