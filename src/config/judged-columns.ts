/**
 * Why columns are judged: the user named them, their names or the layout of the records are known, or their content
 * reads as text. `nothing` means that no column is judged.
 */
export const CHOSEN_BY = ['option', 'name', 'content', 'nothing'] as const;

export type ChosenBy = (typeof CHOSEN_BY)[number];

/** Files that are not UTF-8, and their most likely encoding. */
export interface OtherEncoding {
  /** A WHATWG label; null if the encoding was not recognised. */
  readonly encoding: string | null;
  /** Paths as in sources.jsonl. */
  readonly paths: readonly string[];
}

/** Tables, or other record files, with the same judged columns. Columns are printable labels. */
export interface JudgedColumns {
  /** Path of the first file, as in sources.jsonl. */
  readonly path: string;
  readonly files: number;
  readonly judged: readonly string[];
  readonly chosen_by: ChosenBy;
  /** Columns with strings that are not judged, except ids. */
  readonly not_judged: readonly string[];
}
