import { itemError, type ItemError } from '../../domain/item-error.ts';

/** Why the rest of a Parquet file cannot be read. The rows before it were returned. */
export class ParquetProblem extends Error {
  override readonly name = 'ParquetProblem';
  readonly error: ItemError;

  constructor(error: ItemError, options?: ErrorOptions) {
    super(error.message, options);
    this.error = error;
  }
}

/** The file breaks the format. `what` names the part, in our own words. */
export function damaged(what: string, cause?: unknown): ParquetProblem {
  return new ParquetProblem(
    itemError('UNREADABLE_SOURCE', `the Parquet file is damaged: ${what}`),
    cause === undefined ? undefined : { cause },
  );
}

/** The file uses a part of the format that is not supported. */
export function unsupported(what: string): ParquetProblem {
  return new ParquetProblem(
    itemError('UNSUPPORTED_TYPE', `the Parquet file ${what}, which is not supported`),
  );
}

/** The file exceeds a limit that bounds memory. */
export function tooLarge(what: string): ParquetProblem {
  return new ParquetProblem(itemError('ITEM_TOO_LARGE', what));
}
