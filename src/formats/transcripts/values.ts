import { isList } from '../record.ts';
import { messageContent } from './content.ts';

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
 * A list of turns: as it is, or as the JSON text that a table holds in one cell. Undefined for anything else, null
 * for a text that sets out as such a list and is not valid JSON.
 */
export function turnsOf(value: unknown): readonly unknown[] | null | undefined {
  if (isList(value)) return value;
  if (typeof value !== 'string' || !/^\s*\[\s*[[{]/.test(value)) return undefined;
  try {
    const parsed: unknown = JSON.parse(value);
    return isList(parsed) ? parsed : null;
  } catch {
    return null;
  }
}
