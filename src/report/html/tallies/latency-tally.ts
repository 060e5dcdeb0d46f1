import type { OutcomeLine } from '../../../domain/outcome.ts';
import type { GuardRow } from '../report-data.ts';

/** Latencies are counted in steps of 10%, from 0.01 ms to about 4 hours. */
const STEP = Math.log(1.1);
const LOWEST_MS = 0.01;
const STEPS = 220;
/** Guards that are counted apart: an endpoint and a model each. */
const MAX_GUARDS = 100;

interface Counts {
  readonly steps: Float64Array;
  verdicts: number;
  max: number;
}

/** Counts the latencies of verdicts that were made in this run, by guard. */
export class LatencyTally {
  readonly #guards = new Map<string, Counts>();

  add({ endpoint, fingerprint, latency_ms: ms }: OutcomeLine): void {
    if (endpoint === null || ms === null) return;
    const key = keyOf(endpoint, fingerprint);
    let counts = this.#guards.get(key);
    if (counts === undefined) {
      if (this.#guards.size === MAX_GUARDS) return;
      counts = { steps: new Float64Array(STEPS), verdicts: 0, max: 0 };
      this.#guards.set(key, counts);
    }
    const step = ms <= LOWEST_MS ? 0 : Math.ceil(Math.log(ms / LOWEST_MS) / STEP);
    counts.steps[Math.min(STEPS - 1, step)]! += 1;
    counts.verdicts++;
    counts.max = Math.max(counts.max, ms);
  }

  latencyOf(endpoint: string, fingerprint: string | null): GuardRow['latency'] {
    const counts = this.#guards.get(keyOf(endpoint, fingerprint));
    if (counts === undefined) return null;
    const at = (share: number): number => {
      let left = Math.ceil(share * counts.verdicts);
      const step = counts.steps.findIndex((count) => (left -= count) <= 0);
      return Math.min(counts.max, LOWEST_MS * Math.exp(step * STEP));
    };
    return { p50: at(0.5), p95: at(0.95), max: counts.max };
  }
}

function keyOf(endpoint: string, fingerprint: string | null): string {
  return `${fingerprint} ${endpoint}`;
}
