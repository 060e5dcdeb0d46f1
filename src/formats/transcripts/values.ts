import { isTurnLike } from './turns/roles.ts';
import { isReadonlyArray } from '../record.ts';
import { readContent } from './content.ts';
import { parseRole } from './turns/roles.ts';

/**
 * Reads the text of a field: a string, a number or boolean as text, or the joined text parts of a message. Undefined if
 * the field is missing or null; null if it contains anything else.
 */
export function toText(value: unknown): string | null | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const content = isReadonlyArray(value) ? readContent(value) : null;
  return content === null || content.attachments.length > 0 ? null : content.text;
}

/**
 * Returns the elements of a list of texts, some of which may be numbers or null; null for anything else, such as the
 * parts of a message.
 */
export function readElements(value: unknown): readonly unknown[] | null {
  if (!isReadonlyArray(value) || !value.some((element) => typeof element === 'string')) return null;
  return value.every((element) => typeof element !== 'object' || element === null) ? value : null;
}

/** Parses a list of texts in JSON, as in a table cell; it may be empty. Null for any other value. */
export function parseElements(cell: unknown): readonly unknown[] | null {
  if (typeof cell !== 'string' || !/^\s*\[\s*["\]n\d]/.test(cell)) return null;
  const parsed = parseList(cell);
  return parsed?.length === 0 ? parsed : readElements(parsed);
}

/**
 * Returns a list, or parses it from JSON text, as in a table cell; undefined for anything else. JSON text counts only
 * if each element is a turn: a list of numbers or links remains text.
 */
export function parseTurns(value: unknown): readonly unknown[] | undefined {
  if (isReadonlyArray(value)) return value;
  if (typeof value !== 'string' || !LIST_TEXT.test(value)) return undefined;
  const parsed = parseList(value);
  return parsed?.every((element) => isTurnLike(element) && hasKnownRole(element)) ? parsed : undefined;
}

/**
 * Like `parseTurns`, but for a field named as a conversation, where any list is meant as turns. Null for text that starts like
 * such a list but is not valid JSON.
 */
export function parseConversation(value: unknown): readonly unknown[] | null | undefined {
  if (isReadonlyArray(value)) return value;
  if (typeof value !== 'string' || !LIST_TEXT.test(value)) return undefined;
  return parseList(value) ?? (/^\s*\[\s*[[{]\s*"/.test(value) ? null : undefined);
}

const LIST_TEXT = /^\s*\[\s*[[{]/;

function parseList(text: string): readonly unknown[] | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return isReadonlyArray(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** Any two strings look like a turn, so the role of a pair must be known. An object may have an unknown role. */
function hasKnownRole(turn: unknown): boolean {
  if (!isReadonlyArray(turn)) return true;
  const [role, content] = turn;
  return typeof role === 'string' && parseRole(role) !== null && typeof content === 'string';
}
