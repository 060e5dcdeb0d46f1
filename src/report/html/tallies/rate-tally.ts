import { Failure } from '../../../domain/failure.ts';
import type { OutcomeLine } from '../../../domain/outcome.ts';
import { RUN_FILES } from '../../../files/run-files.ts';
import type { RateOverTime } from '../report-data.ts';

const MAX_BINS = 150;
/** Widths of bins in seconds; each divides the next, so that bins can be joined. */
const WIDTHS = [1, 5, 15, 60, 300, 900, 3600, 10_800, 43_200, 86_400, 604_800, 6_048_000, 60_480_000];

type Counts = { -readonly [Key in keyof RateOverTime['bins'][number]]: number };

/** Counts outcomes over time, in bins that become wider when there are too many: outcomes come in any order of time. */
export class RateTally {
  #bins = new Map<number, Counts>();
  #width = 0;
  #first = Infinity;
  #last = -Infinity;

  /** Failure('internal') for an outcome without a time. */
  add({ moderated_at, decision }: OutcomeLine): void {
    const ms = Date.parse(moderated_at);
    if (Number.isNaN(ms))
      throw new Failure('internal', `${RUN_FILES.verdicts} has an outcome without a time`);
    let bin = this.#binOf(ms);
    while (this.#isTooWide(bin)) {
      this.#widen();
      bin = this.#binOf(ms);
    }
    this.#first = Math.min(this.#first, bin);
    this.#last = Math.max(this.#last, bin);
    const counts = this.#countsOf(bin);
    if (decision === null) counts.errors++;
    else counts.verdicts++;
    if (decision === 'review' || decision === 'block') counts.flagged++;
  }

  /** Null without outcomes. */
  result(): RateOverTime | null {
    if (this.#bins.size === 0) return null;
    const seconds = WIDTHS[this.#width]!;
    const none = { verdicts: 0, flagged: 0, errors: 0 };
    const bins = Array.from(
      { length: this.#last - this.#first + 1 },
      (_, index) => this.#bins.get(this.#first + index) ?? none,
    );
    return { from: this.#first * seconds * 1000, seconds, bins };
  }

  #isTooWide(bin: number): boolean {
    if (this.#bins.size === 0 || this.#width === WIDTHS.length - 1) return false;
    return Math.max(this.#last, bin) - Math.min(this.#first, bin) >= MAX_BINS;
  }

  #binOf(ms: number): number {
    return Math.floor(ms / 1000 / WIDTHS[this.#width]!);
  }

  #countsOf(bin: number): Counts {
    let counts = this.#bins.get(bin);
    if (counts === undefined) this.#bins.set(bin, (counts = { verdicts: 0, flagged: 0, errors: 0 }));
    return counts;
  }

  #widen(): void {
    const factor = WIDTHS[this.#width + 1]! / WIDTHS[this.#width]!;
    const narrow = this.#bins;
    this.#width++;
    this.#bins = new Map();
    for (const [bin, { verdicts, flagged, errors }] of narrow) {
      const counts = this.#countsOf(Math.floor(bin / factor));
      counts.verdicts += verdicts;
      counts.flagged += flagged;
      counts.errors += errors;
    }
    this.#first = Math.floor(this.#first / factor);
    this.#last = Math.floor(this.#last / factor);
  }
}
