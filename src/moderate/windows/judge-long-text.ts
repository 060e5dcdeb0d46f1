import { itemError } from '../../domain/item-error.ts';
import type { FailedJudgement, Outcome } from '../../domain/outcome.ts';
import { type GenerationRequest, requestBytes, type TextRequest } from '../../domain/request.ts';
import type { Judge } from '../judge.ts';
import { judgeParts, type Part } from '../parts/judge-parts.ts';
import { windowedConversation } from './conversation-windows.ts';
import { windowedResponse } from './response-windows.ts';
import { SameGuard } from './same-guard.ts';
import { windowedText } from './text-windows.ts';
import { windowSizes, type Windowed } from './windowed.ts';

/** Windows sent to the guard in one call. */
const WINDOWS_PER_CALL = 64;
/** In bytes of UTF-8. A longer text that is rejected without a reason may have been rejected for its length. */
const MAX_SHORT_TEXT_BYTES = 2048;

const BLANK = itemError('EMPTY_CONTENT', 'the item is nothing but white space');

interface LongTextOptions {
  readonly session: string;
  readonly signal: AbortSignal;
}

/** A request that can be cut: a stream moderates its text from the beginning or not at all. */
export type Windowable = Exclude<TextRequest, GenerationRequest>;

/**
 * Judges a text or conversation in windows after the guard refused the whole for its length (see `isTooLong`).
 * Returns the combined outcome of the windows, or the last refusal if the guard refuses windows of every size.
 * Rejects as the judge does.
 *
 * Window sizes form a fixed ladder. Every size is tried for every item, the largest first, until the guard takes all
 * windows of the item. So the outcome depends on the item and the guard alone, not on what this process judged before.
 * Each halving of the size costs one refused request and doubles the number of windows.
 */
export async function judgeLongText(
  request: Windowable,
  refused: FailedJudgement,
  judge: Judge,
  options: LongTextOptions,
): Promise<Outcome> {
  const long = windowed(request);
  const guard = new SameGuard(judge, refused.endpoint);
  let failure = refused;
  let rungs = windowSizes(long.bytes);
  for (let rung = rungs.next(); rung.done !== true; rung = rungs.next()) {
    const outcome = await judgeWindows(long, rung.value, guard, options);
    if (outcome === 'another guard') rungs = fromTheWhole(long.bytes);
    else if (!isTooLong(request, outcome, rung.value)) return outcome;
    else failure = outcome.failure;
  }
  return { judgement: null, failure };
}

/**
 * Whether a request, or one of its windows of up to `maxBytes`, was refused for its length or may have been: it exceeds
 * the guard's context or message limit, or a text that is not short was rejected without a reason. A guard may have no
 * name for a text that exceeds its context; it rejects conversations for their structure as well.
 */
export function isTooLong(
  request: Windowable,
  outcome: Outcome,
  maxBytes = Number.POSITIVE_INFINITY,
): outcome is Outcome & { readonly judgement: null } {
  switch (outcome.failure?.error.code) {
    case 'SEQUENCE_OVERFLOW':
    case 'ITEM_TOO_LARGE':
      return true;
    case 'GUARD_REJECTED':
      return (
        request.requestType !== 'multiturn' &&
        Math.min(requestBytes(request), maxBytes) > MAX_SHORT_TEXT_BYTES
      );
    default:
      return false;
  }
}

function windowed(request: Windowable): Windowed {
  switch (request.requestType) {
    case 'prompt':
      return windowedText(request);
    case 'response':
      return windowedResponse(request);
    case 'multiturn':
      return windowedConversation(request);
  }
}

/** The same for a guard that has not refused the whole yet. */
function* fromTheWhole(bytes: number): Generator<number> {
  yield Number.POSITIVE_INFINITY;
  yield* windowSizes(bytes);
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
        // The first window alone: if it is too long, so are most others.
        let perCall = 1;
        for (;;) {
          const group: Part[] = [];
          let next = windows.next();
          for (; next.done !== true; next = windows.next()) {
            group.push(next.value);
            if (group.length === perCall) break;
          }
          if (group.length > 0) await judgeGroup(group);
          else if (perCall === 1) return BLANK;
          if (next.done === true) return next.value;
          perCall = WINDOWS_PER_CALL;
        }
      },
      judge,
      options,
    ),
  );
}
