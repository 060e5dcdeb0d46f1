/**
 * Why columns are judged: the user named them, their names or the layout of the records are known, or what they hold
 * reads as text. `nothing`: no column is judged.
 */
export const CHOSEN_BY = ['option', 'name', 'content', 'nothing'] as const;

export type ChosenBy = (typeof CHOSEN_BY)[number];

/** Files that are not UTF-8, and the encoding that they are most likely in. */
export interface OtherEncoding {
  /** A WHATWG label; null if it was not recognised. */
  readonly encoding: string | null;
  /** As in sources.jsonl. */
  readonly paths: readonly string[];
}

/** Tables, or other files of records, with the same judged columns. Columns are printable labels. */
export interface JudgedColumns {
  /** Path of the first of them, as in sources.jsonl. */
  readonly path: string;
  readonly files: number;
  readonly judged: readonly string[];
  readonly chosen_by: ChosenBy;
  /** Columns with strings that are not judged, but for ids. */
  readonly not_judged: readonly string[];
}
