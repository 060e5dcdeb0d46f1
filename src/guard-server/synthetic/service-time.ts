import { setTimeout } from 'node:timers/promises';
import { tokensOfBytes } from '../contract/context-window.ts';
import type { TensorRequest } from '../contract/tensor-request.ts';

/** How long an execution takes: as long as its longest row, to which the others are padded. */
export interface ServiceTime {
  /** Steps of ascending `belowTokens`; the first whose bound lies above the longest row gives the time. */
  readonly steps: readonly { readonly belowTokens: number; readonly ms: number }[];
  /** Time for each token of a longer row. */
  readonly beyondMsPerToken: number;
  /** Of an image or a clip, whatever text is beside it. Default: no time. */
  readonly media?: { readonly image: Span; readonly audio: Span };
}

/** Rows are spread over it evenly, by the size of what was sent. */
interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The guard's published figures; for text carried on in proportion. */
export const REFERENCE_SERVICE_TIME: ServiceTime = {
  steps: [
    { belowTokens: 100, ms: 19 },
    { belowTokens: 256, ms: 27 },
    { belowTokens: 512, ms: 31 },
  ],
  beyondMsPerToken: 31 / 512,
  media: { image: { fromMs: 140, toMs: 170 }, audio: { fromMs: 100, toMs: 130 } },
};

/** No time at all: what remains is the cost of the protocol. */
export const ZERO_SERVICE_TIME: ServiceTime = { steps: [], beyondMsPerToken: 0 };

/** Milliseconds that an execution with these requests takes. */
export function executionMs(time: ServiceTime, requests: readonly TensorRequest[]): number {
  if (time === ZERO_SERVICE_TIME) return 0;
  let longestMs = 0;
  for (const request of requests) {
    const rowsMs = mediaMs(time, request) ?? rowTokens(request).map((tokens) => textMs(time, tokens));
    longestMs = Math.max(longestMs, ...rowsMs);
  }
  return longestMs;
}

function textMs({ steps, beyondMsPerToken }: ServiceTime, tokens: number): number {
  return steps.find(({ belowTokens }) => tokens < belowTokens)?.ms ?? tokens * beyondMsPerToken;
}

/** Two payloads whose sizes differ by this many bytes take the same time. */
const SPREAD_BYTES = 1000;

/** Null unless the rows are images or clips. */
function mediaMs(time: ServiceTime, request: TensorRequest): number[] | null {
  const images = request.strings.get('IMAGE');
  const payloads = images ?? request.strings.get('AUDIO');
  if (payloads === undefined) return null;
  const span = time.media?.[images === undefined ? 'audio' : 'image'];
  if (span === undefined) return [0];
  const { fromMs, toMs } = span;
  return payloads.map(({ length }) => fromMs + ((toMs - fromMs) * (length % SPREAD_BYTES)) / SPREAD_BYTES);
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
