import { isTurnLike } from '../json/json-record.ts';
import { isList } from '../record.ts';
import { messageContent } from './content.ts';
import { roleOf } from './turns/roles.ts';

/**
 * The text of a field: a string, or a number or truth value as it is written. Undefined when there is none (null
 * counts as none), null for a value that holds no text we know how to get at.
 */
export function textOf(value: unknown): string | null | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const content = isList(value) ? messageContent(value) : null;
  return content === null || content.attachments.length > 0 ? null : content.text;
}

/**
 * A list of turns: as it is, or as the JSON text that a table holds in one cell. Undefined for anything else: a text
 * may look like a list (of numbers, of links) and is a text all the same unless each element is a turn.
 */
export function turnsOf(value: unknown): readonly unknown[] | undefined {
  if (isList(value)) return value;
  if (typeof value !== 'string' || !LIST_TEXT.test(value)) return undefined;
  const parsed = parsedList(value);
  return parsed?.every((element) => isTurnLike(element) && hasKnownRole(element)) ? parsed : undefined;
}

/**
 * The same under a name that conversations go by, where whatever elements a list has are meant as turns; null for a
 * text that sets out as such a list and is not valid JSON.
 */
export function conversationOf(value: unknown): readonly unknown[] | null | undefined {
  if (isList(value)) return value;
  if (typeof value !== 'string' || !LIST_TEXT.test(value)) return undefined;
  return parsedList(value) ?? (/^\s*\[\s*[[{]\s*"/.test(value) ? null : undefined);
}

const LIST_TEXT = /^\s*\[\s*[[{]/;

function parsedList(text: string): readonly unknown[] | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return isList(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** A pair of any two texts looks like a turn; the role tells. One that names its role may have an unknown one. */
function hasKnownRole(turn: unknown): boolean {
  if (!isList(turn)) return true;
  const [role, content] = turn;
  return typeof role === 'string' && roleOf(role) !== null && typeof content === 'string';
}
