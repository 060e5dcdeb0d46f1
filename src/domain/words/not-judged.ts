import {
  isRetryable,
  ITEM_ERROR_REASONS,
  type ItemCode,
  type ItemErrorReason,
  mayHaveReason,
} from '../item-error.ts';
import { plural } from '../text/plural.ts';
import { ITEM_ADVICE, REASON_ADVICE } from './item-advice.ts';

/** Error counts of summary.json. */
interface ErrorCounts {
  readonly by_error_code: Readonly<Partial<Record<ItemCode, number>>>;
  readonly by_error_reason?: Readonly<Partial<Record<ItemErrorReason, number>>>;
}

/** Items that were not judged for the same cause. */
export interface NotJudged {
  readonly code: ItemCode;
  /** Null for any cause without its own advice. */
  readonly reason: ItemErrorReason | null;
  readonly items: number;
  readonly retryable: boolean;
  readonly brief: string;
  readonly full: string;
}

/** Formats "21 not judged, among them 9 whole files whose content nobody knows"; null if everything was judged. */
export function notJudgedInBrief({
  items,
  verdicts,
  whole_files_not_judged: files = 0,
}: {
  readonly items: number;
  readonly verdicts: number;
  readonly whole_files_not_judged?: number | undefined;
}): string | null {
  if (items === verdicts) return null;
  const known = files === 0 ? '' : `, among them ${wholeFilesInBrief(files)}`;
  return `${(items - verdicts).toLocaleString('en-US')} not judged${known}`;
}

/** Describes whole files without a verdict in words. */
export function wholeFilesInBrief(files: number): string {
  return `${files.toLocaleString('en-US')} whole ${plural(files, 'file')} whose content nobody knows`;
}

/** Lists items without a verdict by code. A cause with its own advice has its own row; each item counts in one row. */
export function notJudgedByCause(counts: ErrorCounts): NotJudged[] {
  const reasons = ITEM_ERROR_REASONS.map((reason) => ({
    reason,
    items: counts.by_error_reason?.[reason] ?? 0,
  }));
  return Object.entries(counts.by_error_code).flatMap(([name, all]) => {
    const code = name as ItemCode;
    const retryable = isRetryable({ code });
    const ofReason = reasons.filter(({ reason, items }) => items > 0 && mayHaveReason(code, reason));
    const others = all - ofReason.reduce((sum, { items }) => sum + items, 0);
    return [
      ...(others > 0 ? [{ code, reason: null, items: others, retryable, ...ITEM_ADVICE[code] }] : []),
      ...ofReason.map(({ reason, items }) => ({ code, reason, items, retryable, ...REASON_ADVICE[reason] })),
    ];
  });
}
