import { isFileError, itemError, type ItemError } from '../../domain/item-error.ts';
import type { CopyLine, LogLine, OutcomeLine } from '../../domain/outcome.ts';

/**
 * The outcome line of a copy, given the outcome line of the item that it refers to, null if there is none. The copy takes
 * over the verdict or error, without a decision of its own: the policy is the same. It gets a retryable error instead when
 * the other item is not a lower one, is a copy itself, has other content, or failed because of its file.
 */
export function outcomeOfCopy(copy: CopyLine, original: LogLine | null): OutcomeLine {
  const shared = original !== null && isShared(copy, original) ? original : null;
  return {
    schema: 1,
    run: copy.run,
    seq: copy.seq,
    id: copy.id,
    source: copy.source,
    modality: copy.modality,
    request_type: copy.request_type,
    content_sha256: copy.content_sha256,
    roles: copy.roles,
    turn: copy.turn,
    part: copy.part,
    coverage: shared?.coverage ?? null,
    status: shared?.status ?? 'error',
    score: shared?.score ?? null,
    flagged: shared?.flagged ?? null,
    subcategory_scores: shared?.subcategory_scores ?? null,
    subcategory_flags: shared?.subcategory_flags ?? null,
    decision: shared?.decision ?? null,
    decided_by: shared?.decided_by ?? null,
    same_as: copy.same_as,
    fingerprint: shared?.fingerprint ?? null,
    endpoint: shared?.endpoint ?? null,
    latency_ms: shared?.latency_ms ?? null,
    attempts: 0,
    cache_usage: null,
    stream: shared?.stream ?? null,
    moderated_at: shared?.moderated_at ?? copy.moderated_at,
    reused_from: shared?.reused_from ?? null,
    snippet: shared?.snippet ?? null,
    error: shared === null ? { ...notShared(copy.same_as), retryable: true } : shared.error,
  };
}

/** Whether an outcome is of the content of a copy. */
function isShared(copy: CopyLine, original: LogLine): original is OutcomeLine {
  return (
    original.status !== 'same' &&
    original.seq === copy.same_as &&
    original.same_as === null &&
    original.seq < copy.seq &&
    original.content_sha256 === copy.content_sha256 &&
    (original.error === null || !isFileError(original.error.code))
  );
}

function notShared(sameAs: number): ItemError {
  return itemError(
    'INTERNAL',
    `not judged as a copy of item ${sameAs}, which has no outcome of this content`,
  );
}
