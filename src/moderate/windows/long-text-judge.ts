import type { FailedJudgement, Outcome } from '../../domain/outcome.ts';
import type { TextRequest } from '../../domain/request.ts';
import type { Judge } from '../judge.ts';
import { judgeParts } from '../parts/judge-parts.ts';
import { windowedConversation } from './conversation-windows.ts';
import { windowedText } from './text-windows.ts';
import type { Windowed } from './windowed.ts';

/** Smaller windows would hold no sentence: whoever refuses them refuses for another reason. */
const SMALLEST_WINDOW_BYTES = 256;
/** Windows judged together. */
const WINDOWS_TOGETHER = 64;
/** Most windows of one item; what needs more is not judged. */
const MOST_WINDOWS = 16_384;

/**
 * Judges texts and conversations that are longer than the guard's context, in windows. The length that the guard
 * takes is found by halving; what was found is where the next long text begins.
 */
export class LongTextJudge {
  readonly #judge: Judge;
  /** The length of windows that was last accepted, in bytes; infinite before the first. */
  #acceptedBytes = Number.POSITIVE_INFINITY;

  constructor(judge: Judge) {
    this.#judge = judge;
  }

  /**
   * The outcome of a request that was refused as a whole, with the failure that it got: that failure when there are no
   * windows the guard accepts, else what the windows add up to. Rejects as the judge does.
   */
  async moderate(
    request: TextRequest,
    refused: FailedJudgement,
    options: { readonly session: string; readonly signal: AbortSignal },
  ): Promise<Outcome> {
    const long = request.requestType === 'multiturn' ? windowedConversation(request) : windowedText(request);
    let maxBytes = Math.min(this.#acceptedBytes, Math.ceil(long.bytes / 2));
    for (; maxBytes >= SMALLEST_WINDOW_BYTES; maxBytes = Math.floor(maxBytes / 2)) {
      const outcome = await this.#judgeWindows(long, maxBytes, options);
      if (outcome === null) break;
      if (isTooLong(outcome)) continue;
      if (outcome.judgement !== null) this.#acceptedBytes = maxBytes;
      return outcome;
    }
    return { judgement: null, failure: refused };
  }

  /** Null when it cannot be cut into windows of that size. */
  async #judgeWindows(
    long: Windowed,
    maxBytes: number,
    options: { readonly session: string; readonly signal: AbortSignal },
  ): Promise<Outcome | null> {
    const windows = long.cut(maxBytes);
    if (windows === null || windows.length === 0 || windows.length > MOST_WINDOWS) return null;
    return judgeParts(
      async (judge) => {
        // The first alone: when it is too long, so are the others.
        await judge(windows.slice(0, 1));
        for (let at = 1; at < windows.length; at += WINDOWS_TOGETHER) {
          await judge(windows.slice(at, at + WINDOWS_TOGETHER));
        }
        return long.covered;
      },
      this.#judge,
      options,
    );
  }
}

/** Whether an item was refused for its length: by the guard's context, or by the size of its messages. */
export function isTooLong(outcome: Outcome): outcome is Outcome & { readonly judgement: null } {
  const code = outcome.failure?.error.code;
  return code === 'SEQUENCE_OVERFLOW' || code === 'ITEM_TOO_LARGE';
}
