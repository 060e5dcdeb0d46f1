import type { ItemCode } from '../../domain/item-error.ts';

/** Why an endpoint is out of use. Shown to users and kept stable. */
export type OutReason =
  | 'no connection'
  | 'connection lost'
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
  | 'certificate refused'
  | 'rate limited'
  | 'model changed'
  | 'failed its canaries'
  | 'not authorised'
  | 'not a guard';

/**
 * The class of a failed call. It determines what happens to the items of the request.
 * - `refused`: not retryable, this content will never be judged. `named`: the guard named one of the contract's
 *   failures. An unnamed refusal counts only if the guard judges other content.
 * - `attempt`: retryable. Counts as an attempt of the item only if the guard judges other content.
 * - `execution`: the guard failed on everything it ran in one execution. Sending the items one by one shows which is to
 *   blame.
 * - `overload`: too much at once. Says nothing about the items, except about one that is rejected alone.
 * - `rate`: a rate limit, treated like `overload`. `retryAfterMs`: how long to wait, null when the guard did not say.
 * - `too-large`: the message as a whole exceeds a size limit.
 * - `endpoint`: the endpoint is not usable for now. Says nothing about the items, except that if `reached`, they may
 *   have been running there when it went down.
 * - `barred`: rejected before anything judged it, because of the endpoint (a wrong key, no such path) or, by a firewall
 *   in front of it, because of the request's content. `BarredRequests` finds out which. `reason` and `fatal` (not
 *   usable until a setting is changed) apply if the endpoint is the cause.
 */
export type Fault =
  | { readonly kind: 'refused'; readonly code: ItemCode; readonly named: boolean }
  | { readonly kind: 'attempt'; readonly code: ItemCode }
  | { readonly kind: 'execution' }
  | { readonly kind: 'overload' }
  | { readonly kind: 'rate'; readonly retryAfterMs: number | null }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'endpoint'; readonly reason: OutReason; readonly reached: boolean }
  | { readonly kind: 'barred'; readonly reason: OutReason; readonly fatal: boolean };

/** Whether the call timed out. The guard may still be working on the request. */
export function isTimeout(fault: Fault): boolean {
  return fault.kind === 'attempt' && fault.code === 'TIMEOUT';
}

/** A failed call. The original error is not kept, not even as `cause`: a guard's message can quote content. */
export class CallError extends Error {
  override readonly name = 'CallError';
  readonly fault: Fault;
  /** How the call failed, such as `gRPC status UNAVAILABLE`. Never text from the guard. */
  readonly answer: string;

  constructor(answer: string, fault: Fault) {
    super(`the guard call failed: ${answer}`);
    this.fault = fault;
    this.answer = answer;
  }
}

/** The server does not implement the call. */
export class UnimplementedCall extends CallError {}
