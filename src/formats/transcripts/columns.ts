import { itemError } from '../../domain/item-error.ts';
import type { Fields } from '../record.ts';
import { isBlank, promptDraft, settled, type Drafted } from './draft.ts';
import { textOf } from './values.ts';
import { hasWords, isIdName, looksLikeId } from './wording.ts';

/** Names of text columns, most likely first. */
const TEXT_NAMES = [
  ...['text', 'content', 'body', 'message', 'comment', 'prompt'],
  // Of common sets of test prompts and comments, some of which have other columns with words.
  ...['prompt_text', 'comment_text', 'test_case'],
];

/** Names of id columns. */
export const ID_NAMES: readonly string[] = ['id', 'uuid', 'custom_id'];

export const VALUE_NOT_TEXT = itemError('MALFORMED_ROW', 'the value to judge is not text');

/** The first column with a name for text that holds one. Null if there is none. */
export function draftKnownColumn(fields: Fields): Drafted | null {
  for (const name of TEXT_NAMES) {
    const text = textOf(fields.get(name));
    if (typeof text === 'string') return { drafts: [promptDraft('', text)], judged: [name] };
  }
  return null;
}

/** The error of a record whose text columns hold something else. Null if it has no such columns. */
export function draftNoText(fields: Fields): Drafted | null {
  const name = TEXT_NAMES.find((candidate) => textOf(fields.get(candidate)) === null);
  return name === undefined ? null : { drafts: [settled('', 'prompt', VALUE_NOT_TEXT)], judged: [name] };
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

/** Whether a text is an id: by its form, or by the name of its column unless it has several words. */
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
