import type { ItemCode } from '../../domain/item-error.ts';

/** Why an endpoint is not used. Stable words, shown to people. */
export type OutReason =
  | 'no connection'
  | 'connection lost'
  | 'connection stuck'
  | 'not ready'
  | 'shutting down'
  | 'model process unhealthy'
  | 'no answer in time'
  | 'fails on harmless text'
  | 'version not readable'
  | 'unknown model'
  | 'unknown path'
  | 'redirects elsewhere'
  | 'certificate not trusted'
  | 'rate limited'
  | 'not authorised'
  | 'not a guard';

/**
 * What a failed call means for the items in it: the error's class, on which every retry depends.
 * - `refused`: this content will never be judged. `named` when the guard said which of the contract's failures
 *   it is; a plain refusal is believed only of a guard that judges other content.
 * - `attempt`: worth trying again; a try counts against the item only if the guard judges other content.
 * - `execution`: the guard failed on everything it ran together; which item is to blame shows when each runs alone.
 * - `overload`: too much at once; says nothing of the items.
 * - `rate`: too many requests in a time, whatever is in them; how long to wait, in milliseconds, where that is known.
 * - `too-large`: the message, as a whole, is over a limit.
 * - `endpoint`: the endpoint is of no use for now; says nothing of the items. `reached` when they may have been
 *   running there as it went.
 * - `fatal`: the endpoint will be of no use until somebody changes a setting.
 */
export type Fault =
  | { readonly kind: 'refused'; readonly code: ItemCode; readonly named: boolean }
  | { readonly kind: 'attempt'; readonly code: ItemCode }
  | { readonly kind: 'execution' }
  | { readonly kind: 'overload' }
  | { readonly kind: 'rate'; readonly retryAfterMs: number | null }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'endpoint'; readonly reason: OutReason; readonly reached: boolean }
  | { readonly kind: 'fatal'; readonly reason: OutReason };

/** Whether there was no answer in time, so that the guard may still be working on the request. */
export function isTimeout(fault: Fault): boolean {
  return fault.kind === 'attempt' && fault.code === 'TIMEOUT';
}

/**
 * A failed call. The foreign error is not kept, not even as cause: a guard's message can quote content.
 */
export class CallError extends Error {
  override readonly name = 'CallError';
  readonly fault: Fault;

  /** `answer`: how the call failed, such as `gRPC status UNAVAILABLE`, in our own words. */
  constructor(answer: string, fault: Fault) {
    super(`the guard call failed: ${answer}`);
    this.fault = fault;
  }
}
