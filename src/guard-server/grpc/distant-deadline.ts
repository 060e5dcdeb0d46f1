import type { ServerInterceptingCallInterface } from '@grpc/grpc-js';

/** Less than what any distant deadline is off by, and more than the age of a call that is just being admitted. */
const TOLERANCE_MS = 1000;

/**
 * Removes the deadline of a call that is more than 2^31 ms away, which is how clients say that they wait as long as it takes.
 * Trap: grpc-js keeps 32 bits of the time that is left. What is negative then is over at once, so the call would end with
 * DEADLINE_EXCEEDED. To be called when a call begins.
 */
export function removeDistantDeadline(call: ServerInterceptingCallInterface): void {
  if (Number(call.getDeadline()) > Date.now() - TOLERANCE_MS) return;
  const { deadlineTimer } = call as unknown as { readonly deadlineTimer: NodeJS.Timeout | null };
  clearTimeout(deadlineTimer ?? undefined);
}
