import pLimit from 'p-limit';
import { type DiffResult, diffRuns } from '../../analysis/diff-runs.ts';
import { openFinishedVerdicts } from '../../analysis/finished-verdicts.ts';
import { DashboardError } from '../errors.ts';
import { runSignature } from './run-signature.ts';

/** Comparisons that wait for the one that is being made. */
const MAX_WAITING = 8;

/** Results that are kept: going back to a page shows it at once. Each has up to a hundred pairs. */
const MAX_KEPT = 16;

/** Compares finished runs, one pair at a time. */
export class RunComparisons {
  readonly #limit = pLimit(1);
  /** By both run directories and what they held. */
  readonly #kept = new Map<string, DiffResult>();

  /** How run B differs from run A: `diff` of their directories. Rejects as `openFinishedVerdicts` does. */
  async of(dirA: string, dirB: string, signal: AbortSignal): Promise<DiffResult> {
    const key = [dirA, await runSignature(dirA), dirB, await runSignature(dirB)].join('\n');
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    if (this.#limit.pendingCount >= MAX_WAITING) {
      throw new DashboardError('TOO_MANY_REQUESTS', 'too many runs are being compared: try again');
    }
    return this.#limit(async () => {
      signal.throwIfAborted();
      const a = await openFinishedVerdicts(dirA, signal);
      const b = await openFinishedVerdicts(dirB, signal);
      const result = await diffRuns(a, b, { out: null, signal });
      this.#kept.set(key, result);
      const [oldest] = this.#kept.keys();
      if (this.#kept.size > MAX_KEPT) this.#kept.delete(oldest!);
      return result;
    });
  }
}
