import { shown } from '../../domain/text/shown.ts';

/** Max keys that are reported by name: malformed keys in Redis must not flood the log. */
const MAX_NAMED = 32;

/** Reports malformed keys in Redis: each key once, up to MAX_NAMED keys. */
export class SkippedKeys {
  readonly #say: (message: string) => void;
  readonly #named = new Set<string>();

  constructor(say: (message: string) => void) {
    this.#say = say;
  }

  /** `what` must not quote the value. */
  skip(key: string, what: string): void {
    if (this.#named.has(key) || this.#named.size > MAX_NAMED) return;
    this.#named.add(key);
    this.#say(
      this.#named.size > MAX_NAMED
        ? 'Redis: more keys are malformed; they are skipped without a message'
        : `Redis key ${shown(key)}: ${what}`,
    );
  }
}
