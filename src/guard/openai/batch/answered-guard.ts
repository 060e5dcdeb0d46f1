import { CallError } from '../../protocol/call-error.ts';
import type { CallOptions, Reading, Reply } from '../../protocol/connection.ts';
import type { RequestKind, RequestRow } from '../../tensors/encode-request.ts';

/**
 * A guard that is not asked now: its requests are written to files, or its answers are read from files. It makes the
 * requests and reads the answers that the guard of its transport does, one row in each, and negotiates nothing.
 */
export interface AnsweredGuard {
  /** What it declares by its answer to the harmless text; without the model that answered where there is none. */
  readonly first: Reading;
  takes(requestKind: RequestKind): boolean;
  /** Fails with `CallError`, or with the signal's reason. */
  judge(row: RequestRow, options: CallOptions): Promise<Reply>;
  /** What it declares when the model that answers has this name. */
  declared(answeredBy: string): Reading;
}

/** A text without an answer is one of many; what it would have told is taken as it was asked for. */
export function ignoreCallError(error: unknown): void {
  if (!(error instanceof CallError)) throw error;
}
