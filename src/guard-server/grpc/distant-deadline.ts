import { status, type ServerInterceptingCallInterface } from '@grpc/grpc-js';

/** Less than what any distant deadline is off by, and more than the age of a call that is just being admitted. */
const TOLERANCE_MS = 1000;

/**
 * Keeps a call whose deadline is more than 2^31 ms away, which is how clients say that they wait as long as it takes. Trap:
 * grpc-js keeps 32 bits of the time that is left. What is negative then is over at once, so it would end the call with
 * DEADLINE_EXCEEDED, once. To be called when a call begins.
 */
export function ignoreDistantDeadline(call: ServerInterceptingCallInterface): void {
  if (Number(call.getDeadline()) > Date.now() - TOLERANCE_MS) return;
  const send = call.sendStatus.bind(call);
  call.sendStatus = (ended) => {
    call.sendStatus = send;
    if (ended.code !== status.DEADLINE_EXCEEDED) send(ended);
  };
}
