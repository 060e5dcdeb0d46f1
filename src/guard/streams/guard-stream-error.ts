import { CallError, type Fault } from '../protocol/call-error.ts';
import type { StatusName } from '../tensors/stream/stream-status.ts';

/** A moderation stream that failed, or could not be opened. Verdicts received before stay valid. */
export class GuardStreamError extends Error {
  override readonly name = 'GuardStreamError';
  readonly status: StatusName;

  /** `message` is in our own words, never text from the guard. */
  constructor(status: StatusName, message: string) {
    super(message);
    this.status = status;
  }
}

/** Converts the error of a failed call for the caller of a stream. Returns other errors unchanged. */
export function toStreamError(error: unknown): unknown {
  return error instanceof CallError ? new GuardStreamError(statusOf(error.fault), error.message) : error;
}

function statusOf(fault: Fault): StatusName {
  switch (fault.kind) {
    case 'refused':
      if (fault.code === 'INVALID_REPLY') return 'INTERNAL';
      return fault.code === 'PROBE_NOT_LOADED' ? 'FAILED_PRECONDITION' : 'INVALID_ARGUMENT';
    case 'attempt':
      if (fault.code === 'TIMEOUT') return 'DEADLINE_EXCEEDED';
      return fault.code === 'GUARD_UNAVAILABLE' ? 'UNAVAILABLE' : 'INTERNAL';
    case 'execution':
      return 'INTERNAL';
    case 'overload':
    case 'rate':
    case 'too-large':
      return 'RESOURCE_EXHAUSTED';
    case 'endpoint':
    case 'barred':
      return 'UNAVAILABLE';
  }
}
