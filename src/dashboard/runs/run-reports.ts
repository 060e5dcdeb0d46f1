import pLimit from 'p-limit';
import { makeReport } from '../../report/html/make-report.ts';
import { DashboardError } from '../errors.ts';
import { signatureWithReviews } from './run-signature.ts';

/** Maximum number of reports waiting to be made. */
const MAX_WAITING = 8;

/** Maximum number of reports to keep, each of up to a few megabytes. */
const MAX_KEPT = 16;

interface KeptReport {
  readonly html: string;
  readonly signature: string;
}

/** Makes reports of finished runs, one at a time, and remakes one only after a change, such as a retry or a review. */
export class RunReports {
  readonly #closing: AbortSignal;
  readonly #limit = pLimit(1);
  /** Reports by run directory. */
  readonly #kept = new Map<string, KeptReport>();
  readonly #making = new Map<string, Promise<string>>();

  /** `closing` aborts reports in progress. */
  constructor(closing: AbortSignal) {
    this.#closing = closing;
  }

  /** The current report of a run. Rejects as `collectReport` does. */
  async html(dir: string): Promise<string> {
    const kept = this.#kept.get(dir);
    const signature = await signatureWithReviews(dir);
    if (kept?.signature === signature) return kept.html;
    const making = this.#making.get(dir);
    if (making !== undefined) return making;
    if (this.#making.size >= MAX_WAITING) {
      throw new DashboardError('TOO_MANY_REQUESTS', 'too many reports are being made: try again');
    }
    const made = this.#limit(() => this.#make(dir, signature)).finally(() => this.#making.delete(dir));
    this.#making.set(dir, made);
    return made;
  }

  /** A report that compares with a given run instead of the previous one. It is not kept. */
  async compared(dir: string, before: string): Promise<string> {
    if (this.#limit.pendingCount >= MAX_WAITING) {
      throw new DashboardError('TOO_MANY_REQUESTS', 'too many reports are being made: try again');
    }
    return this.#limit(() => makeReport(dir, this.#closing, before));
  }

  async #make(dir: string, signature: string): Promise<string> {
    const html = await makeReport(dir, this.#closing);
    this.#kept.delete(dir);
    this.#kept.set(dir, { html, signature });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT) this.#kept.delete(oldest!);
    return html;
  }
}
