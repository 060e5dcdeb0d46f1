import { itemError } from '../../domain/item-error.ts';
import type { FailedJudgement, Outcome } from '../../domain/outcome.ts';
import type { TextRequest } from '../../domain/request.ts';
import type { Judge } from '../judge.ts';
import { judgeParts, type Part } from '../parts/judge-parts.ts';
import { windowedConversation } from './conversation-windows.ts';
import { windowedResponse } from './response-windows.ts';
import { SameGuard } from './same-guard.ts';
import { windowedText } from './text-windows.ts';
import { MIN_WINDOW_BYTES, type Windowed } from './windowed.ts';

/** Windows judged together. */
const WINDOWS_TOGETHER = 64;
/** An item that is longer than so many windows is not judged. */
const MAX_WINDOWS = 16_384;

const BLANK = itemError('EMPTY_CONTENT', 'the item is nothing but white space');

export interface LongTextOptions {
  readonly session: string;
  readonly signal: AbortSignal;
}

/**
 * The outcome of a text or conversation that was refused as a whole for its length, with the failure that it got: that
 * failure when there are no windows the guard accepts, else what the windows add up to. Rejects as the judge does.
 *
 * The windows are the largest of a fixed ladder that the guard takes all of. Every rung is tried for every item, from
 * the largest down, so that what becomes of an item depends on the item and the guard alone, and not on what this
 * process judged before. That costs a refusal for each halving; the windows to be judged are as many as two to the
 * power of that.
 */
export async function judgeLongText(
  request: TextRequest,
  refused: FailedJudgement,
  judge: Judge,
  options: LongTextOptions,
): Promise<Outcome> {
  const long = windowed(request);
  const guard = new SameGuard(judge, refused.endpoint);
  let failure = refused;
  let rungs = ladder(long.bytes);
  for (let rung = rungs.next(); rung.done !== true; rung = rungs.next()) {
    const outcome = await judgeWindows(long, rung.value, guard, options);
    if (outcome === 'another guard') rungs = fromTheWhole(long.bytes);
    else if (!isTooLong(outcome)) return outcome;
    else failure = outcome.failure;
  }
  return { judgement: null, failure };
}

/** Whether an item was refused for its length: by the guard's context, or by the size of its messages. */
export function isTooLong(outcome: Outcome): outcome is Outcome & { readonly judgement: null } {
  const code = outcome.failure?.error.code;
  return code === 'SEQUENCE_OVERFLOW' || code === 'ITEM_TOO_LARGE';
}

function windowed(request: TextRequest): Windowed {
  switch (request.requestType) {
    case 'prompt':
      return windowedText(request);
    case 'response':
      return windowedResponse(request);
    case 'multiturn':
      return windowedConversation(request);
  }
}

/** The sizes of windows, in bytes, for something of that size: the same for all, halved from one to the next. */
function* ladder(bytes: number): Generator<number> {
  let rung = MIN_WINDOW_BYTES;
  while (rung * 2 < bytes) rung *= 2;
  for (; rung >= MIN_WINDOW_BYTES && bytes / rung <= MAX_WINDOWS; rung /= 2) {
    if (rung < bytes) yield rung;
  }
}

/** The same for a guard that has not refused the whole. */
function* fromTheWhole(bytes: number): Generator<number> {
  yield Number.POSITIVE_INFINITY;
  yield* ladder(bytes);
}

function judgeWindows(
  long: Windowed,
  maxBytes: number,
  guard: SameGuard,
  options: LongTextOptions,
): Promise<Outcome | 'another guard'> {
  return guard.run((judge) =>
    judgeParts(
      async (judgeGroup) => {
        const windows = long.cut(maxBytes);
        // The first alone: when it is too long, so are the others.
        let together = 1;
        for (;;) {
          const group: Part[] = [];
          let next = windows.next();
          for (; next.done !== true; next = windows.next()) {
            group.push(next.value);
            if (group.length === together) break;
          }
          if (group.length > 0) await judgeGroup(group);
          else if (together === 1) return BLANK;
          if (next.done === true) return next.value;
          together = WINDOWS_TOGETHER;
        }
      },
      judge,
      options,
    ),
  );
}
