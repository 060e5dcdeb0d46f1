import pLimit from 'p-limit';
import { finishedSummary } from '../../record/summary/finished-summary.ts';
import { makeReport } from '../../report/html/make-report.ts';
import { DashboardError } from '../errors.ts';
import { runSignature } from './run-signature.ts';

/** Reports that wait to be made. */
const MAX_WAITING = 8;

/** Reports that are kept; the oldest is dropped when there is one more. Each has up to a few megabytes. */
const MAX_KEPT = 16;

/** How long a report of a run that goes on is good enough: at least this, in milliseconds, … */
const FRESH_MS = 5000;
/** … and this many times as long as it took to make. */
const FRESH_TIMES = 5;

interface Kept {
  readonly html: string;
  readonly signature: string;
  /** Whether the run was finished. */
  readonly finished: boolean;
  /** By `performance.now()`. */
  readonly freshUntil: number;
}

/** Makes the reports of runs, one at a time, and each no more often than the run changes. */
export class RunReports {
  readonly #closing: AbortSignal;
  readonly #limit = pLimit(1);
  /** By run directory. */
  readonly #kept = new Map<string, Kept>();
  readonly #making = new Map<string, Promise<string>>();

  /** `closing` ends what is being made. */
  constructor(closing: AbortSignal) {
    this.#closing = closing;
  }

  /** The report of a run as it is now, or was a few seconds ago. Rejects as `collectReport` does. */
  async html(dir: string): Promise<string> {
    const kept = this.#kept.get(dir);
    const signature = await runSignature(dir);
    if (kept?.signature === signature) return kept.html;
    const fresh = kept !== undefined && performance.now() < kept.freshUntil;
    // At the end of a run, nobody wants to be told for a while that it is not finished.
    if (fresh && kept.finished === ((await finishedSummary(dir)) !== null)) return kept.html;
    const making = this.#making.get(dir);
    if (making !== undefined) return making;
    if (this.#making.size >= MAX_WAITING) {
      throw new DashboardError('TOO_MANY_REQUESTS', 'too many reports are being made: try again');
    }
    const made = this.#limit(() => this.#make(dir, signature)).finally(() => this.#making.delete(dir));
    this.#making.set(dir, made);
    return made;
  }

  async #make(dir: string, signature: string): Promise<string> {
    const startedAt = performance.now();
    const { html, finished } = await makeReport(dir, this.#closing);
    const now = performance.now();
    const freshUntil = now + Math.max(FRESH_MS, FRESH_TIMES * (now - startedAt));
    this.#kept.delete(dir);
    this.#kept.set(dir, { html, signature, finished, freshUntil });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT) this.#kept.delete(oldest!);
    return html;
  }
}
