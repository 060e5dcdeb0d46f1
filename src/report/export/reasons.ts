import type { Item } from '../../domain/item.ts';
import type { OutcomeLine } from '../../domain/outcome.ts';
import type { SourceReason } from './source-refused.ts';

/**
 * Why a row is left out, the most severe first. `partial`: a verdict does not cover all of an item. `not_judged`: an item
 * has no outcome, or its content is not what was judged. `not_selected`: a trial passed it over. `around`: what surrounds an array of records is no row.
 * `no_object`: the record is not an object, so that nothing can be added to it.
 */
const ROW_REASONS = [
  'block',
  'review',
  'error',
  'partial',
  'not_judged',
  'not_selected',
  'around',
  'no_object',
] as const;

export type RowReason = (typeof ROW_REASONS)[number];

/** Why something is left out, as it is counted. */
export type Reason = RowReason | SourceReason;

/** One reason for a row, in the list of what was left out. Holds no content. */
export interface ReasonLine {
  readonly reason: RowReason;
  readonly seq?: number;
  readonly id?: string;
  readonly part?: string | null;
  readonly turn?: number | null;
  readonly decided_by?: string | null;
  readonly categories?: readonly string[] | null;
  readonly code?: string;
  readonly retryable?: boolean;
  readonly coverage?: OutcomeLine['coverage'];
}

/** The most severe of several reasons. */
export function mainReason(reasons: readonly ReasonLine[]): RowReason {
  return ROW_REASONS.find((name) => reasons.some(({ reason }) => reason === name))!;
}

/** Why a file that is one item is not clean, by its outcome lines; empty if it is. */
export function fileReasons(lines: readonly OutcomeLine[], keepReview: boolean): ReasonLine[] {
  if (lines.length !== 1) return [{ reason: 'not_judged' }];
  return lines.flatMap((line) => lineReasons(line, keepReview));
}

/**
 * Why a row is not clean; empty if it is. It is if each of its items, as they are read now, has an outcome line that is
 * allowed with full coverage and judged the same content, and if it has no other lines.
 */
export function rowReasons(
  items: readonly Item[],
  lines: readonly OutcomeLine[],
  { keepReview, isTrial }: { readonly keepReview: boolean; readonly isTrial: boolean },
): ReasonLine[] {
  if (isTrial && lines.length === 0) return [{ reason: 'not_selected' }];
  const reasons = lines.flatMap((line) => lineReasons(line, keepReview));
  const missing = unjudged(items, lines);
  for (const { id, part, turn } of missing) reasons.push({ reason: 'not_judged', id, part, turn });
  const isComplete = items.length > 0 && items.length === lines.length;
  if (!isComplete && reasons.length === 0) reasons.push({ reason: 'not_judged' });
  return reasons;
}

/** The items without a line that is of the same content, or that says that the row could not be read. */
export function unjudged(items: readonly Item[], lines: readonly OutcomeLine[]): Item[] {
  const known = new Set(lines.map(({ content_sha256 }) => content_sha256));
  return items.filter(({ contentSha256 }) => !known.has(contentSha256));
}

function lineReasons(line: OutcomeLine, keepReview: boolean): ReasonLine[] {
  const { seq, id, part = null, turn = null, decision, coverage, error } = line;
  const item = { seq, id, part, turn };
  if (error !== null) {
    const { code, retryable } = error;
    return [{ reason: 'error', ...item, code, retryable }];
  }
  const reasons: ReasonLine[] = [];
  if (decision === 'block' || (decision === 'review' && !keepReview)) {
    const { decided_by, subcategory_flags: categories } = line;
    reasons.push({ reason: decision, ...item, decided_by, categories });
  }
  if (coverage === null || coverage.judged < coverage.total) {
    reasons.push({ reason: 'partial', ...item, coverage });
  }
  return reasons;
}
