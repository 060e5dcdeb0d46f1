import type { Item } from '../../domain/item.ts';
import type { OutcomeLine } from '../../domain/outcome.ts';
import type { Restrictions } from '../../record/restricted/restrictions.ts';
import { isFields, type RecordContent } from '../../formats/record.ts';
import type { ExportResult } from './export-run.ts';

/**
 * Reasons to exclude a row, the most severe first.
 * - `restricted`: see domain/restriction/restriction.ts; it does not reveal what was found
 * - `reviewed`: a person blocks it, or finds a category in it
 * - `partial`: a verdict does not cover all of an item
 * - `not_judged`: an item has no outcome, or its content is not what was judged
 * - `not_selected`: a trial did not select it
 * - `around`: the wrapper of an array of records is not a row
 * - `no_object`: the record is not an object, so nothing can be added to it
 */
const ROW_REASONS = [
  'restricted',
  'block',
  'reviewed',
  'review',
  'error',
  'partial',
  'not_judged',
  'not_selected',
  'around',
  'no_object',
] as const;

export type RowReason = (typeof ROW_REASONS)[number];

/**
 * Reasons to exclude a whole source:
 * - `source_changed`: it is not the file that the run read
 * - `source_unreadable`: it cannot be read to its end
 * - `read_differently`: this version does not find the records that the run judged
 * - `header`: a stray quote is in the header of the table
 * - `row_too_large`: a row was too large to find the rows after it again
 * - `list_of_files`: a manifest lists other files, which may be excluded
 * - `whole_file`: a file that is one item has no place for an annotation
 * - `container`: it contains other files, some of which may be excluded
 * - `name`: its path cannot be a path in the output folder
 */
export type SourceReason =
  | 'source_changed'
  | 'source_unreadable'
  | 'read_differently'
  | 'header'
  | 'row_too_large'
  | 'list_of_files'
  | 'whole_file'
  | 'container'
  | 'name';

/** Thrown if no part of a source is exported. */
export class SourceRefused extends Error {
  override readonly name = 'SourceRefused';
  readonly reason: SourceReason;

  constructor(reason: SourceReason, options?: ErrorOptions) {
    super(reason, options);
    this.reason = reason;
  }
}

/** Reason for an exclusion, as counted. */
export type Reason = RowReason | SourceReason;

/** Reasons independent of whether everything was judged: a decision, or the layout of a source. */
const JUDGED: ReadonlySet<Reason> = new Set([
  'restricted',
  'block',
  'reviewed',
  'review',
  'partial',
  'not_selected',
  'around',
  'no_object',
  'list_of_files',
  'whole_file',
  'container',
]);

/** Exit status of an export: 5 if something was excluded because it was not judged, or because its source changed. */
export function exportStatus({ by_reason, sources }: ExportResult, allowErrors: boolean): 0 | 5 {
  const reasons = [
    ...(Object.keys(by_reason) as Reason[]),
    ...sources.refused_paths.map(({ reason }) => reason),
  ];
  const isWhole = reasons.every((reason) => JUDGED.has(reason) || (allowErrors && reason === 'error'));
  return isWhole ? 0 : 5;
}

/** One reason for a row, in the list of exclusions. Contains no content. */
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

/** The rules for keeping rows. */
export interface Keeping {
  readonly restrictions: Pick<Restrictions, 'by' | 'holds' | 'holdsItem' | 'isAnyListed' | 'reviews'>;
  readonly keepReview: boolean;
  /** Whether reviews are ignored, and only the run's decisions count. Restricted rows are never kept. */
  readonly ignoreReviews: boolean;
  readonly isTrial: boolean;
}

/** Why a row may not be in any export; empty if it may. `items` are the row's items as currently read. */
export function restrictedReasons(
  items: readonly Item[],
  lines: readonly OutcomeLine[],
  { restrictions }: Pick<Keeping, 'restrictions'>,
  content: RecordContent | null = null,
): ReasonLine[] {
  const found = lines.filter((line) => restrictions.by(line) !== null);
  if (found.length > 0) return found.map((line) => ({ reason: 'restricted', ...placeOf(line) }));
  const held = items
    .filter((item) => restrictions.holdsItem(item))
    .map(({ id, part, turn }) => ({ reason: 'restricted', id, part, turn }) as const);
  if (held.length > 0 || !restrictions.isAnyListed) return held;
  // `holdsItem` has checked the text of each item.
  const checked = new Set(
    items.flatMap(({ request }) => (request !== null && 'text' in request ? [request.text] : [])),
  );
  const isHeld = textsIn(content).some(
    (text) => !checked.has(text) && restrictions.holds({ requestType: 'prompt', modality: 'text', text }),
  );
  return isHeld ? [{ reason: 'restricted' }] : [];
}

/** All strings in a record, including those that are not part of an item, such as the elements of a list. */
function textsIn(content: RecordContent | null): string[] {
  const texts: string[] = [];
  const pending: unknown[] = isFields(content) ? content.names().map((_, at) => content.at(at)) : [content];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value === 'string') texts.push(value);
    else if (typeof value === 'object' && value !== null)
      for (const each of Object.values(value)) pending.push(each);
  }
  return texts;
}

/** Why a file that is one item is not clean, according to its outcome lines; empty if it is. */
export function fileReasons(lines: readonly OutcomeLine[], keeping: Keeping): ReasonLine[] {
  if (lines.length !== 1) return [{ reason: 'not_judged' }];
  return lines.flatMap((line) => lineReasons(line, keeping));
}

/**
 * Why a row is not clean; empty if it is. A row is clean if each of its items, as currently read, has an outcome line
 * that is allowed with full coverage and judged the same content, and if it has no other lines.
 */
export function rowReasons(
  items: readonly Item[],
  lines: readonly OutcomeLine[],
  keeping: Keeping,
): ReasonLine[] {
  if (keeping.isTrial && lines.length === 0) return [{ reason: 'not_selected' }];
  const reasons = lines.flatMap((line) => lineReasons(line, keeping));
  const missing = unjudged(items, lines);
  for (const { id, part, turn } of missing) reasons.push({ reason: 'not_judged', id, part, turn });
  const isComplete = items.length > 0 && items.length === lines.length;
  if (!isComplete && reasons.length === 0) reasons.push({ reason: 'not_judged' });
  return reasons;
}

/** The items without an outcome line that has the same content, or that says that the row could not be read. */
export function unjudged(items: readonly Item[], lines: readonly OutcomeLine[]): Item[] {
  // Usually the lines match the items, in the same order.
  if (items.every(({ contentSha256 }, index) => contentSha256 === lines[index]?.content_sha256)) return [];
  const known = new Set(lines.map(({ content_sha256 }) => content_sha256));
  return items.filter(({ contentSha256 }) => !known.has(contentSha256));
}

function placeOf({ seq, id, part, turn }: OutcomeLine): Omit<ReasonLine, 'reason'> {
  return { seq, id, part, turn };
}

function lineReasons(line: OutcomeLine, keeping: Keeping): ReasonLine[] {
  const { decision, coverage, error } = line;
  const item = placeOf(line);
  if (error !== null) {
    const { code, retryable } = error;
    return [{ reason: 'error', ...item, code, retryable }];
  }
  const reasons: ReasonLine[] = [];
  if (decision === 'block' || (decision === 'review' && !keeping.keepReview)) {
    const { decided_by, subcategory_flags: categories } = line;
    reasons.push({ reason: decision, ...item, decided_by, categories });
  }
  const finding = keeping.ignoreReviews ? null : findingOn(line, keeping);
  if (finding !== null) reasons.push({ ...item, ...finding });
  if (coverage === null || coverage.judged < coverage.total) {
    reasons.push({ reason: 'partial', ...item, coverage });
  }
  return reasons;
}

/** A person's finding on an item; null without a review, and for `allow` without a category. */
function findingOn(line: OutcomeLine, { restrictions, keepReview }: Keeping): Omit<ReasonLine, 'seq'> | null {
  const { reviews } = restrictions;
  const decision = reviews.last(line)?.decision ?? 'allow';
  const categories = reviews.categories(line) ?? [];
  const isAgainst = decision === 'block' || (decision === 'review' && !keepReview) || categories.length > 0;
  return isAgainst ? { reason: 'reviewed', categories } : null;
}
