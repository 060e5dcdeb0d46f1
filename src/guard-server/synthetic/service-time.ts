import { setTimeout } from 'node:timers/promises';
import { tokensOfBytes } from '../contract/context-window.ts';
import type { TensorRequest } from '../contract/tensor-request.ts';

/** The time of an execution: that of its longest row, to which the others are padded. */
export interface ServiceTime {
  /** In ascending order of `belowTokens`; the first step above the row's tokens applies. */
  readonly steps: readonly { readonly belowTokens: number; readonly ms: number }[];
  /** Time per token of a row beyond all steps. */
  readonly beyondMsPerToken: number;
  /** Time of an image or a clip, with or without text. Default: none. */
  readonly media?: { readonly image: Span; readonly audio: Span };
}

/** A range over which rows are spread by payload size. */
interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The guard's published figures, extrapolated in proportion for longer texts. */
export const REFERENCE_SERVICE_TIME: ServiceTime = {
  steps: [
    { belowTokens: 100, ms: 19 },
    { belowTokens: 256, ms: 27 },
    { belowTokens: 512, ms: 31 },
  ],
  beyondMsPerToken: 31 / 512,
  media: { image: { fromMs: 140, toMs: 170 }, audio: { fromMs: 100, toMs: 130 } },
};

/** No time: what remains is the cost of the protocol. */
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

/** Payload sizes are taken modulo this. */
const SPREAD_BYTES = 1000;

/** Times of the rows; null unless they are images or clips. */
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
 * The schedule of each instance. Timers fire late: an instance with work waiting continues from when it should have
 * been done, not from when the timer fired, so its throughput matches the service time.
 */
export class InstanceClock {
  readonly #freeAtMs: number[] = [];

  /** Keeps an instance busy for `ms`, from when it became free or the work was queued, whichever is later. */
  async spend(instance: number, waitingSinceMs: number, ms: number): Promise<void> {
    const endsAtMs = Math.max(this.#freeAtMs[instance] ?? 0, waitingSinceMs) + ms;
    this.#freeAtMs[instance] = endsAtMs;
    const leftMs = endsAtMs - performance.now();
    if (leftMs > 0) await setTimeout(leftMs);
  }
}
