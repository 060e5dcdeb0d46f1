import { percentiles, type Percentiles } from './percentiles.ts';

/** An independent client of a guard. */
export interface Caller {
  /** Sends one request and waits for its answer. */
  exchange(): Promise<Exchange>;
  close(): void;
}

export interface Exchange {
  /** Kind of the request. */
  readonly kind: string;
  readonly isBad: boolean;
  /** Null if the answer is right; otherwise the actual and the expected answer. */
  readonly wrong: string | null;
}

/** Results of many concurrent callers. */
export interface Load {
  readonly seconds: number;
  readonly requests: number;
  /** Requests and wrong answers, by kind. */
  readonly kinds: Readonly<Record<string, { requests: number; wrong: number; readonly isBad: boolean }>>;
  /** Latency of valid requests, in milliseconds. */
  readonly latency: Percentiles;
  readonly wrong: number;
  /** The first wrong answers. */
  readonly examples: readonly string[];
}

const MAX_EXAMPLES = 5;

/** Lets all callers send requests for a time, each one after another; waits for the last answers. */
export async function runLoad(
  callers: readonly Caller[],
  durationMs: number,
  signal: AbortSignal,
): Promise<Load> {
  const kinds: Record<string, { requests: number; wrong: number; readonly isBad: boolean }> = {};
  const latencies: number[] = [];
  const examples: string[] = [];
  let requests = 0;
  let wrong = 0;
  const startedAt = performance.now();
  const take = ({ kind, isBad, wrong: why }: Exchange, latencyMs: number): void => {
    const counts = (kinds[kind] ??= { requests: 0, wrong: 0, isBad });
    requests++;
    counts.requests++;
    if (!isBad) latencies.push(latencyMs);
    if (why === null) return;
    wrong++;
    counts.wrong++;
    if (examples.length < MAX_EXAMPLES) examples.push(`${kind}: ${why}`);
  };
  await Promise.all(
    callers.map(async (caller) => {
      while (performance.now() - startedAt < durationMs && !signal.aborted) {
        const sentAt = performance.now();
        take(await caller.exchange(), performance.now() - sentAt);
      }
    }),
  );
  signal.throwIfAborted();
  const seconds = (performance.now() - startedAt) / 1000;
  return { seconds, requests, kinds, latency: percentiles(latencies), wrong, examples };
}
