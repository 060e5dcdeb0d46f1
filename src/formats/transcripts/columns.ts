import { itemError } from '../../domain/item-error.ts';
import type { Fields } from '../record.ts';
import { isBlank, promptDraft, settled, type Drafted } from './draft.ts';
import { textOf } from './values.ts';

/** Names a column of text goes by, the likeliest first. */
const TEXT_NAMES = ['text', 'content', 'body', 'message', 'comment', 'prompt'];

/** Names a column of ids goes by. */
export const ID_NAMES: readonly string[] = ['id', 'uuid', 'custom_id'];

const NOT_TEXT = itemError('MALFORMED_ROW', 'the value to judge is not text');

/** The columns the user named, joined by an empty line; blank ones are left out. */
export function draftNamedColumns(fields: Fields, names: readonly string[]): Drafted {
  const judged = names;
  const texts = names.map((name) => textOf(fields.get(name)));
  if (texts.includes(null)) return { drafts: [settled('', 'prompt', NOT_TEXT)], judged };
  const found = texts.filter((text): text is string => typeof text === 'string');
  if (found.length === 0) {
    const error = itemError('MISSING_PAYLOAD', 'the record has none of the columns to judge');
    return { drafts: [settled('', 'prompt', error)], judged };
  }
  return { drafts: [promptDraft('', found.filter((text) => !isBlank(text)).join('\n\n'))], judged };
}

/** The first column that goes by a name for text. Null when there is none. */
export function draftKnownColumn(fields: Fields): Drafted | null {
  for (const name of TEXT_NAMES) {
    const text = textOf(fields.get(name));
    if (text === undefined) continue;
    const draft = text === null ? settled('', 'prompt', NOT_TEXT) : promptDraft('', text);
    return { drafts: [draft], judged: [name] };
  }
  return null;
}

/**
 * The only column of a table that holds text, told from the first records: not an id column, and with a value that
 * is neither blank nor a number. Null when there are several or none, or when its name means another column.
 */
export function onlyTextColumn(sample: readonly Fields[], idColumn: string | null): string | null {
  const found = new Set<ColumnKey>();
  for (const fields of sample) {
    for (const [position, name] of fields.names().entries()) {
      if (!isIdName(name, idColumn) && holdsText(fields.at(position))) found.add(columnKey(fields, position));
    }
    if (found.size > 1) return null;
  }
  const [only] = found;
  return typeof only === 'string' ? only : null;
}

/** What tells a column from all others: its name, or its index when an earlier column has the same name. */
export type ColumnKey = string | number;

export function columnKey(fields: Fields, position: number): ColumnKey {
  const name = fields.names()[position]!;
  return fields.positionOf(name) === position ? name : position;
}

function isIdName(name: string, idColumn: string | null): boolean {
  const folded = name.toLowerCase();
  return ID_NAMES.includes(folded) || folded === idColumn?.toLowerCase();
}

/** Whether a value is text that somebody may want judged. */
export function holdsText(value: unknown): boolean {
  return typeof value === 'string' && !isBlank(value) && Number.isNaN(Number(value));
}
