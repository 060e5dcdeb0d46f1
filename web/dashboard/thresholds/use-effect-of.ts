import { useEffect, useState } from 'preact/hooks';
import type { ThresholdEffect, ThresholdQuery } from '../../../src/dashboard/api/items.ts';
import { fetchEffect, indexed, messageOf } from '../review/review-api.ts';

/** From the last move of a slider to the question. */
const SETTLE_MS = 100;

export interface KnownEffect {
  /** Of the thresholds before, until that of these is there. */
  readonly effect: ThresholdEffect | null;
  /** Whether it is that of these thresholds. */
  readonly current: boolean;
  readonly problem: string | null;
}

/** What thresholds would decide. Null: do not ask. */
export function useEffectOf(run: string, query: ThresholdQuery | null): KnownEffect {
  const [known, setKnown] = useState<KnownEffect>({ effect: null, current: false, problem: null });
  const key = query === null ? null : JSON.stringify(query);
  useEffect(() => {
    setKnown((before) => ({ ...before, current: false }));
    if (query === null) return;
    const controller = new AbortController();
    const { signal } = controller;
    const ask = (): Promise<void> =>
      indexed(
        () => fetchEffect(run, query, signal),
        signal,
        () => undefined,
      ).then(
        (effect) => setKnown({ effect, current: true, problem: null }),
        (error: unknown) => {
          if (!signal.aborted) setKnown((before) => ({ ...before, problem: messageOf(error) }));
        },
      );
    const timer = setTimeout(() => void ask(), SETTLE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [run, key]);
  return known;
}
