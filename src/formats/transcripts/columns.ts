import { itemError } from '../../domain/item-error.ts';
import type { Fields } from '../record.ts';
import { isBlank, createFailedDraft, type RecordDrafts } from './draft.ts';
import { toText } from './values.ts';
import { countWords, hasWords, isIdName, isReference, isTextName, looksLikeId } from './wording.ts';

/** Names of text columns, most likely first. The last ones come from common sets of test prompts and comments. */
const TEXT_NAMES = [
  ...['text', 'content', 'body', 'message', 'comment', 'prompt', 'prompt_text', 'comment_text', 'test_case'],
];

/** Names of id columns. */
export const ID_NAMES: readonly string[] = ['id', 'uuid', 'custom_id'];

export const VALUE_NOT_TEXT = itemError('MALFORMED_ROW', 'the value to judge is not text');

/** Finds the first column with a name for text that contains text; null if there is none. */
export function findKnownColumn(fields: Fields): string | null {
  return TEXT_NAMES.find((name) => typeof toText(fields.get(name)) === 'string') ?? null;
}

/** Fails a record whose text columns contain something else; null if it has no such columns. */
export function draftNoText(fields: Fields): RecordDrafts | null {
  const name = TEXT_NAMES.find((candidate) => toText(fields.get(candidate)) === null);
  return name === undefined
    ? null
    : { drafts: [createFailedDraft('', 'prompt', VALUE_NOT_TEXT)], judged: [name] };
}

/** Whether a record has a value that may be its text, under any name. */
export function hasUnknownText(fields: Fields): boolean {
  return fields.names().some((name, position) => mayBeText(name, fields.at(position), null));
}

/** Whether a value under a name may be text: not an id, blank or a number. */
export function mayBeText(name: string, value: unknown, idColumn: string | null): value is string {
  return !isIdColumn(name, idColumn) && holdsText(value) && !isId(name, value);
}

/** Identifies a column: its name, or its index if an earlier column has the same name. */
export type ColumnKey = string | number;

export function columnKey(fields: Fields, position: number): ColumnKey {
  const name = fields.names()[position]!;
  return fields.positionOf(name) === position ? name : position;
}

/** Whether a string is an id, judging by its form, or by the name of its column unless it has several words. */
function isId(name: string, text: string): boolean {
  return looksLikeId(text) || (isIdName(name) && !hasWords(text, 2));
}

function isIdColumn(name: string, idColumn: string | null): boolean {
  const folded = name.toLowerCase();
  return ID_NAMES.includes(folded) || folded === idColumn?.toLowerCase();
}

/** Whether a value is text that may need to be judged: not blank and not a number. */
export function holdsText(value: unknown): value is string {
  return typeof value === 'string' && !isBlank(value) && Number.isNaN(Number(value));
}

/** Minimum mean words per cell of a text column. Names, labels and most addresses have fewer. */
const MIN_MEAN_WORDS = 4;

/**
 * Chooses the text columns of a table from its first records: those with a name for text in a common language, and those whose
 * cells have many words on average. If there are none, chooses the only column that may contain text. Ignores a column with
 * the same name as an earlier one.
 *
 * Deterministic: depends only on the sample, so a resumed run chooses the same columns.
 */
export function chooseTextColumns(sample: readonly Fields[], idColumn: string | null): readonly string[] {
  const columns = new Map<string, { cells: number; words: number }>();
  for (const fields of sample) {
    for (const [position, name] of fields.names().entries()) {
      const value = fields.at(position);
      if (!mayBeText(name, value, idColumn) || columnKey(fields, position) !== name) continue;
      if (isReference(value)) continue;
      const column = columns.get(name) ?? { cells: 0, words: 0 };
      columns.set(name, { cells: column.cells + 1, words: column.words + countWords(value) });
    }
  }
  const all = [...columns].filter(([, { words }]) => words > 0);
  const texts = all.filter(([name, { cells, words }]) => isTextName(name) || words >= MIN_MEAN_WORDS * cells);
  return (texts.length === 0 && all.length === 1 ? all : texts).map(([name]) => name);
}
