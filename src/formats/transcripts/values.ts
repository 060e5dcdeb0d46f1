import { isTurnLike } from './turns/roles.ts';
import { isReadonlyArray } from '../record.ts';
import { readContent } from './content.ts';
import { parseRole } from './turns/roles.ts';

/**
 * The text of a field: a string, or a number or boolean as text. Undefined if there is no value (or it is null), null for
 * a value whose text cannot be extracted.
 */
export function toText(value: unknown): string | null | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const content = isReadonlyArray(value) ? readContent(value) : null;
  return content === null || content.attachments.length > 0 ? null : content.text;
}

/**
 * A list of turns: the list itself, or parsed from JSON text, as in a table cell. Undefined for anything else. A text that
 * looks like a list (of numbers, of links) remains a text unless each element is a turn.
 */
export function parseTurns(value: unknown): readonly unknown[] | undefined {
  if (isReadonlyArray(value)) return value;
  if (typeof value !== 'string' || !LIST_TEXT.test(value)) return undefined;
  const parsed = parseList(value);
  return parsed?.every((element) => isTurnLike(element) && hasKnownRole(element)) ? parsed : undefined;
}

/**
 * The same for a value under a name of conversations, where any list is meant as turns. Null for a text that starts like
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

/** A pair of any two texts looks like a turn, so its role must be known. An object with a role may have an unknown one. */
function hasKnownRole(turn: unknown): boolean {
  if (!isReadonlyArray(turn)) return true;
  const [role, content] = turn;
  return typeof role === 'string' && parseRole(role) !== null && typeof content === 'string';
}
