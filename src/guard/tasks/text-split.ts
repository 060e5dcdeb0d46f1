import { isRetryable } from '../../domain/item-error.ts';
import type { Judgement, Outcome } from '../../domain/outcome.ts';
import type { GuardRequest } from '../../domain/request.ts';
import { Task, type TaskOwner } from './task.ts';
import { mergeFlags } from '../../domain/merge-flags.ts';

/** From how many UTF-8 bytes on a text counts as long: longer, it may be refused for its length alone. */
const LONGER_THAN_BYTES = 2048;
/** How far from the middle white space is looked for, as a share of the text. */
const SEARCH_SHARE = 1 / 8;

/**
 * The tasks that judge a long text in two halves, because as a whole it was refused without a reason: of a response the
 * response, each half with the prompt, or a long prompt, each half with the short response. Their outcomes become that
 * of the whole. Null when the text is not long, cannot be cut, or is a half itself.
 */
export function halvesOf(whole: Task): readonly [Task, Task] | null {
  if (whole.isHalf) return null;
  const requests = halfRequests(whole.request);
  if (requests === null) return null;
  const owner = new Halves(whole, requests.are);
  const half = (index: 0 | 1): Task => {
    const task = new Task(owner, index, requests.halves[index], whole.sessionId, null, true);
    task.maxRows = 1;
    // The refusal was a try, too.
    task.attempts = whole.attempts + 1;
    return task;
  };
  return [half(0), half(1)];
}

/** Brings the outcomes of two halves together. */
class Halves implements TaskOwner {
  readonly #whole: Task;
  readonly #are: HalfRequests['are'];
  readonly #outcomes: [Outcome | null, Outcome | null] = [null, null];

  constructor(whole: Task, are: HalfRequests['are']) {
    this.#whole = whole;
    this.#are = are;
  }

  get over(): boolean {
    return this.#whole.abandoned;
  }

  settle(index: number, outcome: Outcome): Task | null {
    this.#outcomes[index as 0 | 1] = outcome;
    const [first, second] = this.#outcomes;
    if (first === null || second === null) return null;
    if (first.failure !== null || second.failure !== null) {
      this.#settleFailed([first, second]);
      return null;
    }
    if (first.judgement.fingerprint !== second.judgement.fingerprint) return this.#whole;
    this.#whole.settle({ judgement: together(first.judgement, second.judgement, this.#are), failure: null });
    return null;
  }

  /** As refused, unless a half may yet be judged: then with that half's code. */
  #settleFailed(outcomes: readonly Outcome[]): void {
    const failures = outcomes.flatMap(({ failure }) => failure ?? []);
    const final = failures.find(({ error }) => !isRetryable(error));
    if (final === undefined) this.#whole.settle({ judgement: null, failure: failures[0]! });
    else {
      this.#whole.attempts = final.attempts;
      this.#whole.settleError('GUARD_REJECTED', final.endpoint, false);
    }
  }
}

/** The worse half's judgement, flagged if either is; of the whole text nothing went unjudged. */
function together(first: Judgement, second: Judgement, are: HalfRequests['are']): Judgement {
  const secondIsWorse = second.score > first.score;
  const [worse, other] = secondIsWorse ? [second, first] : [first, second];
  // The coverage of a response does not count its prompt, and both halves of a prompt have all of the response.
  const firstChars = are === 'of a prompt' ? 0 : first.coverage.total;
  const total = firstChars + second.coverage.total;
  return {
    ...worse,
    flagged: first.flagged || second.flagged,
    subcategoryFlags: mergeFlags(worse, other),
    attempts: Math.max(first.attempts, second.attempts),
    coverage: { unit: 'chars', judged: total, total, worst_at: secondIsWorse ? firstChars : 0 },
  };
}

interface HalfRequests {
  readonly are: 'of what is judged' | 'of a prompt';
  readonly halves: readonly [GuardRequest, GuardRequest];
}

/** Of texts only: halves of an image or of a clip would be other content. */
function halfRequests(request: GuardRequest): HalfRequests | null {
  if (request.requestType === 'multiturn' || request.modality !== 'text') return null;
  if (request.requestType === 'prompt') {
    return halvesWith(request.text, 'of what is judged', (text) => ({ ...request, text }));
  }
  return (
    halvesWith(request.response, 'of what is judged', (response) => ({ ...request, response })) ??
    halvesWith(request.prompt ?? '', 'of a prompt', (prompt) => ({ ...request, prompt }))
  );
}

/** Null when the text is not long, or cannot be cut. */
function halvesWith(
  text: string,
  are: HalfRequests['are'],
  withHalf: (half: string) => GuardRequest,
): HalfRequests | null {
  const cut = Buffer.byteLength(text) > LONGER_THAN_BYTES ? cutInHalf(text) : null;
  return cut && { are, halves: [withHalf(cut[0]), withHalf(cut[1])] };
}

/**
 * Cuts a text after the white space nearest to its middle, else in the middle, never inside a code point. Null when
 * a half would be blank.
 */
export function cutInHalf(text: string): readonly [string, string] | null {
  const at = cutPosition(text);
  const halves = [text.slice(0, at), text.slice(at)] as const;
  return halves.some((half) => half.trim() === '') ? null : halves;
}

function cutPosition(text: string): number {
  const middle = text.length >> 1;
  const farthest = Math.floor(text.length * SEARCH_SHARE);
  for (let distance = 0; distance <= farthest; distance++) {
    if (isSpaceBefore(text, middle - distance)) return middle - distance;
    if (isSpaceBefore(text, middle + distance)) return middle + distance;
  }
  const before = text.charCodeAt(middle - 1);
  const after = text.charCodeAt(middle);
  const insidePair = before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
  return insidePair ? middle - 1 : middle;
}

function isSpaceBefore(text: string, position: number): boolean {
  return /\s/.test(text.charAt(position - 1));
}
