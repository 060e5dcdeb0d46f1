import { setTimeout } from 'node:timers/promises';
import { tokensOfBytes } from '../context-window.ts';
import { type TensorRequest } from '../tensor-request.ts';

/** How long an execution takes, by the tokens of its longest row: rows are padded to it, so it alone decides. */
export interface ServiceTime {
  /** Steps of ascending `belowTokens`; the first whose bound lies above the longest row gives the time. */
  readonly steps: readonly { readonly belowTokens: number; readonly ms: number }[];
  /** Time for each token of a longer row. */
  readonly beyondMsPerToken: number;
}

/** The guard's published figures for text, carried on in proportion. */
export const REFERENCE_SERVICE_TIME: ServiceTime = {
  steps: [
    { belowTokens: 100, ms: 19 },
    { belowTokens: 256, ms: 27 },
    { belowTokens: 512, ms: 31 },
  ],
  beyondMsPerToken: 31 / 512,
};

/** No time at all: what remains is the cost of the protocol. */
export const ZERO_SERVICE_TIME: ServiceTime = { steps: [], beyondMsPerToken: 0 };

/** Milliseconds that an execution with these requests takes. */
export function executionMs(time: ServiceTime, requests: readonly TensorRequest[]): number {
  if (time.steps.length === 0 && time.beyondMsPerToken === 0) return 0;
  let longest = 0;
  for (const request of requests) longest = Math.max(longest, ...rowTokens(request));
  return time.steps.find(({ belowTokens }) => longest < belowTokens)?.ms ?? longest * time.beyondMsPerToken;
}

const TEXT_INPUTS = ['TEXT', 'RESPONSE_TEXT', 'MESSAGES'];

function rowTokens(request: TensorRequest): number[] {
  const bytes = new Array<number>(request.rows).fill(0);
  for (const input of TEXT_INPUTS) {
    const elements = request.strings.get(input) ?? [];
    const perRow = elements.length / request.rows;
    elements.forEach((element, index) => (bytes[Math.floor(index / perRow)]! += element.length));
  }
  return bytes.map(tokensOfBytes);
}

/**
 * The time line of each instance. Timers fire late; an instance that had work waiting goes on from when it should
 * have been done, not from when the timer fired, so that its throughput is what the service time says.
 */
export class InstanceClock {
  readonly #freeAtMs: number[] = [];

  /** Keeps an instance busy for `ms`, beginning when it was free and the work was there, whichever came later. */
  async spend(instance: number, waitingSinceMs: number, ms: number): Promise<void> {
    const endsAtMs = Math.max(this.#freeAtMs[instance] ?? 0, waitingSinceMs) + ms;
    this.#freeAtMs[instance] = endsAtMs;
    const leftMs = endsAtMs - performance.now();
    if (leftMs > 0) await setTimeout(leftMs);
  }
}
