import { itemError, type ItemCode } from '../../domain/item-error.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { GuardRequest, OptionalKind } from '../../domain/request.ts';
import type { Conversation } from './conversation.ts';
import { contentBytes, type RequestRow, type RequestKind, requestKindOf } from '../tensors/encode-request.ts';

/** Counted attempts after which an item ends in a retryable code. */
export const MAX_ATTEMPTS = 5;
/** Timeouts after which an item is sent alone, to find out whether it is slow or waited behind another one. */
const TIMEOUTS_BEFORE_ALONE = 2;

/**
 * Progress of a task:
 * - idle: waits for the previous turn of its conversation, or is between two endpoints;
 * - active: waits for an endpoint, is queued there, waits to be sent again, or is in flight;
 * - answered: waits for the version reading that closes its bracket;
 * - settled: has its outcome.
 */
export type TaskState = 'idle' | 'active' | 'answered' | 'settled';

/** Receives the outcomes of tasks. */
export interface TaskOwner {
  /** Whether it needs no more outcomes. */
  readonly over: boolean;
  /** Takes the outcome of the task with this index. */
  settle(index: number, outcome: Outcome): void;
}

/** An item, or a part of one, on its way to an outcome. */
export class Task implements RequestRow {
  readonly request: GuardRequest;
  readonly sessionId: string;
  readonly requestKind: RequestKind;
  /** Size of its content as sent; see `contentBytes`. */
  readonly bytes: number;
  readonly conversation: Conversation | null;
  #state: TaskState = 'idle';
  /** Its position in the arrival order of the queue it waits in; null while it waits in none. */
  arrival: number | null = null;
  /** Failed attempts that count. */
  attempts = 0;
  /** Answers discarded because the model that gave them was unknown. */
  rejudged = 0;
  /** Times it was in flight when the endpoint went down, since a guard last judged it. */
  drops = 0;
  /** Timeouts that do not count as attempts yet, because another item may have caused them. */
  timeouts = 0;
  /** Times it was the first item of a request rejected as overload or by a rate limit. */
  turnedAway = 0;
  /** Max rows of a batch it may be part of. */
  maxRows = Number.POSITIVE_INFINITY;
  /** Whether it must be the only task in flight, so that a failure can only be its own. */
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
    this.requestKind = requestKindOf(request);
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

  /** Whether its outcome is no longer needed. */
  get abandoned(): boolean {
    return this.#owner.over;
  }

  /** Called when a guard has judged it: it does not bring guards down, even if it must be judged again. */
  clearSuspicion(): void {
    this.drops = 0;
    this.timeouts = 0;
    this.alone = false;
  }

  /**
   * Notes a timeout. It counts as an attempt only if the task was alone in flight; its earlier timeouts then count too.
   * `overtaken` means that requests sent later were answered, so it probably did not wait behind another one. Such a
   * task is sent alone only for its last attempt.
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

  /**
   * Ends the item as an error. `counted` tells whether the last attempt is not yet included in `attempts`. For
   * `answer`, see `CallError`; null if it adds nothing to the code.
   */
  settleError(code: ItemCode, endpoint: string | null, counted: boolean, answer: string | null = null): void {
    const message = messageOf(code);
    this.#settleFailed(code, answer === null ? message : `${message}: ${answer}`, endpoint, counted);
  }

  /** Ends the item, and the turns after it, because no guard takes such requests. */
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

/** Message in the record for requests that no guard takes. */
export function notTaken(request: GuardRequest | OptionalKind): string {
  const requestType = 'requestType' in request ? request.requestType : 'prompt';
  const { modality } = request;
  if (requestType === 'prompt')
    return `none of the guards takes ${modality === 'image' ? 'images' : modality}`;
  if (requestType === 'generation') return 'none of the guards takes moderation streams';
  const what = requestType === 'response' ? 'responses' : 'conversations';
  return `none of the guards takes ${what}: over REST a guard judges prompts only`;
}

/**
 * Message in the record for each code that a guard can cause. The texts are fixed, since a guard's own can quote
 * content.
 */
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
      return "the item exceeds the message size limit of the guard's server, where it can be raised";
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
