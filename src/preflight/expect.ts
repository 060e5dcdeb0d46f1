import type { RunConfig } from '../config/run-config.ts';
import { type Lane, LANES } from '../domain/item.ts';
import type { ItemCode } from '../domain/item-error.ts';
import { type Decision, DECISIONS } from '../domain/outcome.ts';
import type { GuardPool } from '../guard/pool/pool.ts';
import { decisionOn } from '../record/outcomes/decision-on.ts';
import type { ExpectedShare, GuardForecast } from './forecast.ts';
import { type ItemCounts, judgedOf } from './tally.ts';
import type { JudgedSample, SampleResult } from './judge-sample.ts';
import { secondsFor, wilson } from './statistics.ts';

const METHOD =
  'mean time per item of batches judged one after the other; interval: 95 % of 1,000 resamples of the batches ' +
  '(percentile bootstrap). A run keeps more in flight, so it is usually faster.';

/** What a sample tells of all items. `readingSeconds`: how long reading all sources takes. */
export function expectations(
  { judged, batches }: SampleResult,
  {
    config,
    pool,
    predicted,
    readingSeconds,
    reusable,
    random,
  }: {
    readonly config: RunConfig;
    readonly pool: Pick<GuardPool, 'status'>;
    readonly predicted: ItemCounts;
    readonly readingSeconds: number;
    /** Of the sample; null: no verdict is reused. */
    readonly reusable: number | null;
    readonly random: () => number;
  },
): GuardForecast {
  const items = judgedOf(predicted);
  const share = (seen: number): ExpectedShare => {
    const estimate = judged.length === 0 ? { value: 0, low: 0, high: 1 } : wilson(seen, judged.length);
    return { seen, ...estimate, items: Math.round(estimate.value * items) };
  };
  const { decisions, categories, codes, verdicts } = counted(judged, config);
  const shares = <K extends string>(counts: ReadonlyMap<K, number>): Record<K, ExpectedShare> =>
    Object.fromEntries([...counts].map(([key, seen]) => [key, share(seen)])) as Record<K, ExpectedShare>;
  const endpoints = pool.status();
  return {
    endpoints: endpoints.map(({ name, fingerprint }) => ({ name, fingerprint })),
    sampled: judged.length,
    verdicts,
    by_decision: shares(decisions),
    by_category: shares(categories),
    by_error_code: shares(codes),
    reuse: reusable === null ? null : share(reusable),
    duration: duration(),
  };

  function duration(): GuardForecast['duration'] {
    const all = [...batches.values()].flat();
    if (all.length === 0) return null;
    const timed = LANES.map((lane: Lane) => ({
      // A lane without a sample is taken to be as the others.
      batches: batches.get(lane) ?? all,
      items: predicted.lanes[lane],
    })).filter((kind) => kind.items > 0);
    const guard = secondsFor(timed, random);
    const scaled = (change: (seconds: number) => number) => ({
      value: change(guard.value),
      low: change(guard.low),
      high: change(guard.high),
    });
    const ready = endpoints.filter(({ state }) => state.name === 'ready').length;
    return {
      guard,
      reading: readingSeconds,
      run: scaled((seconds) => Math.max(seconds, readingSeconds)),
      batches: all.length,
      guard_seconds: scaled((seconds) => seconds * Math.max(1, ready)),
      method: METHOD,
    };
  }
}

function counted(judged: readonly JudgedSample[], { policy }: RunConfig) {
  const decisions = new Map<Decision, number>(DECISIONS.map((decision) => [decision, 0]));
  const categories = new Map<string, number>();
  const codes = new Map<ItemCode, number>();
  let verdicts = 0;
  for (const { outcome } of judged) {
    if (outcome.judgement === null) {
      increment(codes, outcome.failure.error.code);
      continue;
    }
    verdicts++;
    increment(decisions, decisionOn(policy, outcome.judgement).decision);
    for (const category of outcome.judgement.subcategoryFlags ?? []) increment(categories, category);
  }
  return { decisions, categories, codes, verdicts };
}

function increment<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
