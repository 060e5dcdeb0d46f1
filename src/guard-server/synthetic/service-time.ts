import { setTimeout } from 'node:timers/promises';
import { tokensOfBytes } from '../contract/context-window.ts';
import type { TensorRequest } from '../contract/tensor-request.ts';

/** The guard's published times for texts by token count: the first step above the count applies. */
const TEXT_STEPS = [
  { belowTokens: 100, ms: 19 },
  { belowTokens: 256, ms: 27 },
  { belowTokens: 512, ms: 31 },
];
/** Extrapolates the last published time to longer texts. */
const BEYOND_MS_PER_TOKEN = 31 / 512;

/** The guard's published ranges for media, over which payload sizes modulo SPREAD_BYTES are spread. */
const MEDIA = [
  { input: 'IMAGE', fromMs: 140, toMs: 170 },
  { input: 'AUDIO', fromMs: 100, toMs: 130 },
];
const SPREAD_BYTES = 1000;

/**
 * Time that the guard takes for an execution, in milliseconds: that of its longest row, to which the others are padded.
 */
export function referenceMs(requests: readonly TensorRequest[]): number {
  return Math.max(...requests.flatMap((request) => mediaMs(request) ?? rowTokens(request).map(textMs)));
}

function textMs(tokens: number): number {
  return TEXT_STEPS.find(({ belowTokens }) => tokens < belowTokens)?.ms ?? tokens * BEYOND_MS_PER_TOKEN;
}

/** Times of the rows; null unless they are images or audio clips. */
function mediaMs(request: TensorRequest): number[] | null {
  for (const { input, fromMs, toMs } of MEDIA) {
    const payloads = request.strings.get(input);
    if (payloads === undefined) continue;
    return payloads.map(({ length }) => fromMs + ((toMs - fromMs) * (length % SPREAD_BYTES)) / SPREAD_BYTES);
  }
  return null;
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
 * The schedule of each instance. Timers fire late: an instance with waiting work continues from when it should have
 * finished, not from when the timer fired, so its throughput matches the service time.
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
