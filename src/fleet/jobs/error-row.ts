import {
  ITEM_CODES,
  ITEM_ERROR_REASONS,
  mayBeRetryable,
  mayHaveReason,
  passingError,
  type ItemCode,
  type ItemError,
  type ItemErrorReason,
} from '../../domain/item-error.ts';
import { oneOf, row, type Check } from './rows.ts';

/** What an error has besides code and message: nothing (0), the retryable flag (1), or a reason. */
type Mark = 0 | 1 | ItemErrorReason;

const isReason = oneOf(ITEM_ERROR_REASONS);
const isMark: Check<Mark> = (value): value is Mark => value === 0 || value === 1 || isReason(value);

type ErrorRow = readonly [code: ItemCode, message: string, mark: Mark];

/** Checks an error, its message with the given check. */
export function errorRow(message: Check<string>): Check<ErrorRow> {
  const isRow = row(oneOf(ITEM_CODES), message, isMark);
  return (value): value is ErrorRow => {
    if (!isRow(value)) return false;
    const [code, , mark] = value;
    return mark === 0 || (mark === 1 ? mayBeRetryable(code, true) : mayHaveReason(code, mark));
  };
}

export function packError({ code, message, retryable = false, reason }: ItemError): ErrorRow {
  return [code, message, reason ?? (retryable ? 1 : 0)];
}

export function unpackError([code, message, mark]: ErrorRow): ItemError {
  if (mark === 0) return { code, message };
  return mark === 1 ? passingError(code, message) : { code, message, reason: mark };
}
