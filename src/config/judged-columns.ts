/**
 * Why columns are judged: the user named them, their names or the layout of the records are known, or what they hold
 * reads as text. `nothing`: no column is judged.
 */
export const CHOSEN_BY = ['option', 'name', 'content', 'nothing'] as const;

export type ChosenBy = (typeof CHOSEN_BY)[number];

/** Tables, or other files of records, of which the same columns are judged. Columns are printable labels. */
export interface JudgedColumns {
  /** Path of the first of them, as in sources.jsonl. */
  readonly path: string;
  readonly files: number;
  readonly judged: readonly string[];
  readonly chosen_by: ChosenBy;
  /** Columns with strings that are not judged, but for ids. */
  readonly not_judged: readonly string[];
}
