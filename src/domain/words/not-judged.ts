import {
  isRetryable,
  ITEM_ERROR_REASONS,
  type ItemCode,
  type ItemErrorReason,
  mayHaveReason,
} from '../item-error.ts';
import { ITEM_ADVICE, REASON_ADVICE } from './item-advice.ts';

/** Error counts of summary.json. */
interface ErrorCounts {
  readonly by_error_code: Readonly<Partial<Record<ItemCode, number>>>;
  readonly by_error_reason?: Readonly<Partial<Record<ItemErrorReason, number>>>;
}

/** Items that were not judged, for one cause. */
export interface NotJudged {
  readonly code: ItemCode;
  /** Null: any without advice of its own. */
  readonly reason: ItemErrorReason | null;
  readonly items: number;
  readonly retryable: boolean;
  readonly brief: string;
  readonly full: string;
}

/** Items without a verdict by code. A cause with advice of its own has a row of its own; each item counts in one row. */
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
