import { itemError, type ItemError } from '../../domain/item-error.ts';
import { plural } from '../../domain/text/plural.ts';

/** Errors of rows that cannot be read. Messages are persisted: they never quote the file. */

export const UNCLOSED_ON_LINE = malformed('a quote is not closed on its line');
export const UNCLOSED_IN_HEADER = malformed('a quote in the header is not closed on its line');
export const UNCLOSED = malformed('a quote is never closed');
export const MISQUOTED = malformed('a quoted field continues after its closing quote');
export const NO_ROW_FITS_HEADER = malformed(
  'the header spans several lines and no row has the same number of fields',
);
export const NOT_TEXT = itemError('INVALID_ENCODING', 'the row holds bytes that are not text');

export function wrongFieldCount(count: number, columns: number): ItemError {
  return malformed(`the row has ${count} ${plural(count, 'field')}, but the table has ${columns}`);
}

export function tooManyColumns(count: number, max: number): ItemError {
  return malformed(`the first row has ${count} ${plural(count, 'field')}, more than the maximum of ${max}`);
}

export function rowTooLarge(bytes: number, limit: number): ItemError {
  return itemError('ITEM_TOO_LARGE', `the row has ${bytes} bytes of at most ${limit}`);
}

export function headerUnreadable({ code, message }: ItemError, fileBytes: number): ItemError {
  return itemError(
    code,
    `the header cannot be read, so none of the ${fileBytes} bytes of the file were read: ${message}`,
  );
}

/** Adds the number of bytes that were skipped with the row to an error. */
export function withUnread({ code, message }: ItemError, bytes: number): ItemError {
  return itemError(code, `${message}: ${bytes} ${plural(bytes, 'byte was', 'bytes were')} not read`);
}

function malformed(message: string): ItemError {
  return itemError('MALFORMED_ROW', message);
}
