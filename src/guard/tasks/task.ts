import { itemError, type ItemCode } from '../../domain/item-error.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { GuardRequest, MediaKind } from '../../domain/request.ts';
import type { Conversation } from './conversation.ts';
import { contentBytes, type RequestRow, type Signature, signatureOf } from '../tensors/encode-request.ts';

/** Tries that count, after which an item ends in a retryable code. */
export const MAX_ATTEMPTS = 5;
/** Timeouts after which an item is sent alone, to learn whether it was the slow one or waited behind it. */
const TIMEOUTS_BEFORE_ALONE = 2;

/**
 * Where a task is:
 * - idle: waits for the previous turn of its conversation, or is between two endpoints;
 * - active: waits for an endpoint, is queued there, waits to be sent again, or is in flight;
 * - answered: waits for the version reading that closes its bracket;
 * - settled: has its outcome.
 */
export type TaskState = 'idle' | 'active' | 'answered' | 'settled';

/** Who waits for the outcomes of tasks. */
export interface TaskOwner {
  /** Whether nobody waits any more. */
  readonly over: boolean;
  /** Takes the outcome of the task of this index. */
  settle(index: number, outcome: Outcome): void;
}

/** One item, or one part of an item, on its way to an outcome. */
export class Task implements RequestRow {
  readonly request: GuardRequest;
  readonly sessionId: string;
  readonly signature: Signature;
  /** Content size as it is sent. */
  readonly bytes: number;
  readonly conversation: Conversation | null;
  #state: TaskState = 'idle';
  /** Its place in the order of the queue it waits in; null while it waits in none. */
  arrival: number | null = null;
  /** Tries that counted and failed. */
  attempts = 0;
  /** Times an answer was thrown away because it could not be said which model gave it. */
  rejudged = 0;
  /** Times it was in flight while the endpoint went down, since the guard last judged it. */
  drops = 0;
  /** Times it was not answered, or not in time, which may have been another item's doing. */
  timeouts = 0;
  /** Most rows of a batch it may be part of. */
  maxRows = Number.POSITIVE_INFINITY;
  /** Whether nothing else may be in flight with it, so that a failure can only be its own. */
  alone = false;
  readonly #owner: TaskOwner;
  readonly #index: number;

  constructor(
    owner: TaskOwner,
    index: number,
    request: GuardRequest,
    sessionId: string,
    conversation: Conversation | null,
  ) {
    this.#owner = owner;
    this.#index = index;
    this.request = request;
    this.sessionId = sessionId;
    this.signature = signatureOf(request);
    this.bytes = conversation?.add(this) ?? contentBytes(request);
    this.conversation = conversation;
  }

  get state(): TaskState {
    return this.#state;
  }

  set state(state: TaskState) {
    const before = this.#state;
    this.#state = state;
    this.conversation?.changed(this, before);
  }

  /** Whether nobody waits for it any more. */
  get abandoned(): boolean {
    return this.#owner.over;
  }

  /** The guard has judged it, so it is not what brings guards down, even if it has to be judged again. */
  clearSuspicion(): void {
    this.drops = 0;
    this.timeouts = 0;
    this.alone = false;
  }

  /**
   * It was not answered, or not in time. Only alone in flight can that be its own doing; then the times before count, too.
   * `overtaken`: requests sent later were answered, so that most likely it did not wait behind another: as long as
   * that is so, it is sent alone only for its last try.
   */
  noteTimeout(overtaken: boolean): void {
    this.timeouts++;
    this.maxRows = 1;
    if (this.alone) {
      this.attempts += this.timeouts;
      this.timeouts = 0;
    } else {
      this.alone = this.timeouts >= (overtaken ? MAX_ATTEMPTS - 1 : TIMEOUTS_BEFORE_ALONE);
    }
  }

  settle(outcome: Outcome): void {
    this.state = 'settled';
    this.#owner.settle(this.#index, outcome);
  }

  /** Ends the item as an error. `counted` tells whether the try that ended it is one more than `attempts`. */
  settleError(code: ItemCode, endpoint: string | null, counted: boolean): void {
    this.#settleFailed(code, messageOf(code), endpoint, counted);
  }

  /** Ends the item, and the turns after it, because none of the guards takes such requests. */
  settleNotTaken(): void {
    this.#settleFailed('PROBE_NOT_LOADED', notTaken(this.request), null, false);
    const { conversation } = this;
    if (conversation === null) return;
    for (let turn = conversation.next(); turn !== null; turn = conversation.next()) {
      turn.#settleFailed('PROBE_NOT_LOADED', notTaken(turn.request), null, false);
    }
  }

  #settleFailed(code: ItemCode, message: string, endpoint: string | null, counted: boolean): void {
    this.settle({
      judgement: null,
      failure: {
        error: itemError(code, message),
        attempts: this.attempts + (counted ? 1 : 0),
        endpoint,
        moderatedAt: new Date().toISOString(),
      },
    });
  }
}

/** What the record says of requests that no guard takes. */
export function notTaken(request: GuardRequest | MediaKind): string {
  const requestType = 'requestType' in request ? request.requestType : 'prompt';
  const { modality } = request;
  if (requestType === 'prompt')
    return `none of the guards takes ${modality === 'image' ? 'images' : modality}`;
  const what = requestType === 'response' ? 'responses' : 'conversations';
  return `none of the guards takes ${what}: over REST a guard judges prompts only`;
}

/** What the record says of each error that a guard can give: our own words, since a guard's can quote content. */
export function messageOf(code: ItemCode): string {
  switch (code) {
    case 'MISSING_PAYLOAD':
      return 'the guard found no payload for the modality';
    case 'INVALID_CONVERSATION':
      return 'the guard does not accept the structure of the conversation';
    case 'INVALID_ROLE':
      return 'the guard does not accept a role in the conversation';
    case 'EMPTY_CONTENT':
      return 'the guard found blank content';
    case 'UNSUPPORTED_AUDIO_TYPE':
      return 'the guard does not accept the type of audio';
    case 'UNSUPPORTED_TYPE':
      return 'the guard does not accept the type of file';
    case 'SEQUENCE_OVERFLOW':
      return 'the content exceeds the context window of the guard';
    case 'PROBE_NOT_LOADED':
      return 'the guard has no probe loaded for this kind of item';
    case 'ITEM_TOO_LARGE':
      return 'the item exceeds the message limit of the guard';
    case 'INVALID_REPLY':
      return 'the reply of the guard is not a verdict';
    case 'GUARD_UNAVAILABLE':
      return `the guard was unavailable for this item in each of ${MAX_ATTEMPTS} tries`;
    case 'GUARD_OVERLOADED':
      return `the guard was overloaded by this item in each of ${MAX_ATTEMPTS} tries`;
    case 'GUARD_INTERNAL':
      return 'the guard kept failing on this item';
    case 'TIMEOUT':
      return `the guard did not answer in time in each of ${MAX_ATTEMPTS} tries`;
    default:
      return 'the guard rejected the item without naming a reason';
  }
}
