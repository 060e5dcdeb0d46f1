import { shown } from '../../../domain/text/shown.ts';

/** Keys that are named, at most: whoever writes nonsense into Redis must not fill a log with it. */
const MAX_NAMED = 32;

/** Says of what was found malformed in Redis that it is skipped: once for each key, and no more than a few. */
export class SkippedKeys {
  readonly #say: (message: string) => void;
  readonly #named = new Set<string>();

  constructor(say: (message: string) => void) {
    this.#say = say;
  }

  /** `what` is in our own words; nothing of the value is shown. */
  skip(key: string, what: string): void {
    if (this.#named.has(key) || this.#named.size > MAX_NAMED) return;
    this.#named.add(key);
    this.#say(
      this.#named.size > MAX_NAMED
        ? 'Redis: more keys are malformed; they are skipped and not named'
        : `Redis key ${shown(key)}: ${what}`,
    );
  }
}
