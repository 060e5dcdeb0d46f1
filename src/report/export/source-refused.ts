/**
 * Why nothing of a source is exported:
 * - `source_changed`: it is not the file that the run read
 * - `source_unreadable`: it cannot be read to its end
 * - `read_differently`: this version does not find the records that the run judged
 * - `header`: a stray quote is in the header of the table
 * - `row_too_large`: a row was too large to find the rows behind it again
 * - `list_of_files`: a manifest lists other files, which may be left out
 * - `whole_file`: a file that is one item has no place for an annotation
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
  | 'name';

/** Nothing of a source is exported. */
export class SourceRefused extends Error {
  override readonly name = 'SourceRefused';
  readonly reason: SourceReason;

  constructor(reason: SourceReason, options?: ErrorOptions) {
    super(reason, options);
    this.reason = reason;
  }
}
