import { isRetryable } from '../../domain/item-error.ts';
import { hasReusedVerdict, itemKind, type Item } from '../../domain/item.ts';
import type { GenerationVerdict } from '../../domain/generation/generation-verdict.ts';
import type { Decision, FailedJudgement, Judgement, OutcomeLine, StreamLine } from '../../domain/outcome.ts';
import { decide, type PolicyDecision, type Policy } from '../../domain/policy.ts';
import { findRestriction, type GuardScores } from '../../domain/restriction/restriction.ts';
import { CATEGORY_KEYS, listForeignCategories, type CategoryName } from '../../domain/taxonomy.ts';

/**
 * The line of an item with a verdict, with the policy's decision. A reused verdict took no attempts in this run.
 * `snippet` is an excerpt of the content; null where the line may not hold one.
 */
export function verdictLine(
  run: string,
  item: Item,
  judgement: Judgement,
  { decision, decidedBy }: PolicyDecision,
  snippet: string | null,
): OutcomeLine {
  const { coverage, stream } = judgement;
  const reusedFrom = hasReusedVerdict(item) ? item.settled.reusedFrom : null;
  // Hot path: every key is spelled out, here and below. Object spread would take ten times as long as the rest of the
  // sink.
  return {
    schema: 1,
    run,
    seq: item.seq,
    id: item.id,
    source: sourceOf(item),
    modality: itemKind(item).modality,
    request_type: itemKind(item).requestType,
    content_sha256: item.contentSha256,
    roles: item.roles,
    turn: item.turn,
    part: item.part,
    coverage: {
      unit: coverage.unit,
      judged: coverage.judged,
      total: coverage.total,
      worst_at: coverage.worst_at,
    },
    status: 'ok',
    score: judgement.score,
    flagged: judgement.flagged,
    subcategory_scores: inTaxonomyOrder(judgement.subcategoryScores),
    subcategory_flags: judgement.subcategoryFlags,
    decision,
    decided_by: decidedBy,
    fingerprint: judgement.fingerprint,
    endpoint: judgement.endpoint,
    latency_ms: toHundredths(judgement.latencyMs),
    attempts: reusedFrom === null ? judgement.attempts : 0,
    cache_usage: reusedFrom === null ? judgement.cacheUsage : null,
    stream: stream && streamLine(stream),
    moderated_at: judgement.moderatedAt,
    reused_from: reusedFrom,
    snippet,
    error: null,
  };
}

/** The line of an item without a verdict. An item that was resolved when it was read took no attempts. */
export function errorLine(run: string, item: Item, failure: FailedJudgement): OutcomeLine {
  const { code, message, reason } = failure.error;
  const retryable = isRetryable(failure.error);
  return {
    schema: 1,
    run,
    seq: item.seq,
    id: item.id,
    source: sourceOf(item),
    modality: itemKind(item).modality,
    request_type: itemKind(item).requestType,
    content_sha256: item.contentSha256,
    roles: item.roles,
    turn: item.turn,
    part: item.part,
    coverage: null,
    status: 'error',
    score: null,
    flagged: null,
    subcategory_scores: null,
    subcategory_flags: null,
    decision: null,
    decided_by: null,
    fingerprint: null,
    endpoint: failure.endpoint,
    latency_ms: null,
    attempts: failure.attempts,
    cache_usage: null,
    stream: null,
    moderated_at: failure.moderatedAt,
    reused_from: null,
    snippet: null,
    error: reason === undefined ? { code, message, retryable } : { code, message, retryable, reason },
  };
}

function streamLine(stream: GenerationVerdict): StreamLine {
  return {
    chunks: stream.chunks,
    first_caution_seq: stream.firstCautionSeq,
    first_flagged_seq: stream.firstFlaggedSeq,
    shown_share_at_caution: stream.shareAtCaution,
    shown_share_at_flag: stream.shareAtFlag,
    lag_chunks: stream.lagChunks,
    lag_ms: toHundredths(stream.lagMs),
  };
}

function toHundredths(value: number): number {
  return Math.round(value * 100) / 100;
}

/** The keys of a source in the order of the record format. */
function sourceOf({ source }: Item): OutcomeLine['source'] {
  return {
    path: source.path,
    row: source.row,
    line: source.line,
    sha256: source.sha256,
    bytes: source.bytes,
    offset: source.offset,
    length: source.length,
  };
}

/** The policy's decision on a judgement. */
export function decisionOn(policy: Policy, judgement: Judgement): PolicyDecision {
  const { coverage, stream } = judgement;
  return decide(policy, {
    score: judgement.score,
    flagged: judgement.flagged,
    subcategoryScores: judgement.subcategoryScores,
    subcategoryFlags: judgement.subcategoryFlags,
    needsCaution: stream !== null && stream.firstCautionSeq !== null,
    partial: coverage.judged < coverage.total,
  });
}

/** The policy's decision on a recorded verdict; null for an error line. */
export function replayDecision(policy: Policy, line: OutcomeLine): PolicyDecision | null {
  if (line.score === null || line.flagged === null) return null;
  return decide(policy, {
    score: line.score,
    flagged: line.flagged,
    subcategoryScores: line.subcategory_scores,
    subcategoryFlags: line.subcategory_flags,
    needsCaution: (line.stream?.first_caution_seq ?? null) !== null,
    partial: line.coverage !== null && line.coverage.judged < line.coverage.total,
  });
}

/**
 * Whether an outcome may hold a snippet of its content in a run with content: to review or block, and not restricted.
 */
export function mayHoldContent(
  policy: Policy,
  decided: GuardScores & { readonly decision: Decision | null },
): boolean {
  const { decision } = decided;
  return (decision === 'review' || decision === 'block') && findRestriction(policy, decided) === null;
}

type Scores = Judgement['subcategoryScores'];

/** Puts scores in taxonomy order: equal scores give equal lines, whatever their order in the guard's reply. */
function inTaxonomyOrder(scores: Scores): Scores {
  if (scores === null) return null;
  const ordered: Partial<Record<CategoryName, number>> = {};
  for (const key of CATEGORY_KEYS) if (scores[key] !== undefined) ordered[key] = scores[key];
  for (const name of listForeignCategories(scores)) ordered[name] = scores[name]!;
  return ordered;
}
