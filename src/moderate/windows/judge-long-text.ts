import { itemError } from '../../domain/item-error.ts';
import type { FailedJudgement, Outcome } from '../../domain/outcome.ts';
import { type GenerationRequest, requestBytes, type TextRequest } from '../../domain/request.ts';
import { type Judge, judgeParts, type Part, type PartsOptions } from '../parts/judge-parts.ts';
import { splitConversation } from './conversation-windows.ts';
import { splitResponse, splitText, type WindowedContent, windowSizes } from './text-windows.ts';

/** Max windows sent to the guard in one call. */
const WINDOWS_PER_CALL = 64;
/**
 * Max size of a short text, in bytes of UTF-8. A longer text rejected without a reason may have been rejected for its
 * length.
 */
const MAX_SHORT_TEXT_BYTES = 2048;

const BLANK = itemError('EMPTY_CONTENT', 'the item is nothing but white space');

/** A request that can be cut: a stream moderates its text from the beginning or not at all. */
export type Windowable = Exclude<TextRequest, GenerationRequest>;

/**
 * Judges a text or conversation in windows after the guard refused the whole for its length (see `isTooLong`). Returns
 * the combined outcome of the windows, or the last refusal if the guard refuses windows of every size. Rejects as the
 * judge does.
 *
 * Window sizes form a fixed ladder. Every size is tried for every item, the largest first, until the guard accepts all
 * windows of the item. So the outcome depends only on the item and the guard, not on what this process judged before.
 * Each halving of the size costs one refused request and doubles the number of windows. The guard that refused the item
 * is preferred, because others may accept other sizes.
 */
export async function judgeLongText(
  request: Windowable,
  refused: FailedJudgement,
  judge: Judge,
  options: Omit<PartsOptions, 'endpoint'>,
): Promise<Outcome> {
  const long = splitRequest(request);
  let failure = refused;
  for (const size of windowSizes(long.bytes)) {
    const outcome = await judgeWindows(long, size, judge, { ...options, endpoint: failure.endpoint });
    if (!isTooLong(request, outcome, size)) return outcome;
    ({ failure } = outcome);
  }
  return { judgement: null, failure };
}

/**
 * Whether a request, or one of its windows of up to `maxBytes`, was refused for its length or may have been: it exceeds
 * the guard's context or message limit, or the text is not short and was rejected without a reason. A guard may have no
 * error code for text that exceeds its context. A conversation may be rejected for its structure instead.
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

function splitRequest(request: Windowable): WindowedContent {
  switch (request.requestType) {
    case 'prompt':
      return splitText(request);
    case 'response':
      return splitResponse(request);
    case 'multiturn':
      return splitConversation(request);
  }
}

function judgeWindows(
  long: WindowedContent,
  maxBytes: number,
  judge: Judge,
  options: PartsOptions,
): Promise<Outcome> {
  return judgeParts(
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
  );
}
