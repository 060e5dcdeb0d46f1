import { GuardStreamError } from '../../guard/streams/guard-stream-error.ts';
import type { StatusName } from '../../guard/tensors/stream/stream-status.ts';
import type { NotReady } from '../../http/streams/prefix-judge.ts';
import type { StreamEvent } from '../../http/streams/stream-state.ts';
import type { ApiError } from '../api/errors.ts';
import { apiErrorOf } from '../api/foreign-errors.ts';

/** Maps an error of a guard's stream to the client's; other statuses mean that the guard or the gateway failed. */
const EVENTS: Partial<Readonly<Record<StatusName, StreamEvent>>> = {
  INVALID_ARGUMENT: 'content refused',
  UNAVAILABLE: 'not available',
  RESOURCE_EXHAUSTED: 'limit exceeded',
  // The guard made no progress: its verdicts lag.
  DEADLINE_EXCEEDED: 'limit exceeded',
  // No guard supports streams, or none has a probe for them.
  UNIMPLEMENTED: 'not supported',
  FAILED_PRECONDITION: 'not supported',
};

/** How an error ends a relayed stream. */
export function relayFault(error: unknown): { readonly event: StreamEvent; readonly text: string } {
  if (error instanceof GuardStreamError)
    return { event: EVENTS[error.status] ?? 'failure', text: error.message };
  const answer = apiErrorOf(error);
  return answer.code === 'GUARD_UNAVAILABLE'
    ? notReadyOf(answer)
    : { event: 'failure', text: answer.message };
}

/** How streams end, or are rejected, while no guard is ready. */
export function notReadyOf({ code, message }: ApiError): NotReady {
  return { event: code === 'GUARD_OVERLOADED' ? 'limit exceeded' : 'not available', text: message };
}
