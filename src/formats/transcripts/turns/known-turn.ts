import { isTurnLike } from '../../json/json-record.ts';
import { isList } from '../../record.ts';
import { roleOf } from './roles.ts';

/** Whether a value is a turn of a known layout with a known role. */
export function isKnownTurn(value: unknown): boolean {
  if (!isTurnLike(value)) return false;
  if (isList(value)) return typeof value[1] === 'string' && roleOf(String(value[0])) !== null;
  const { role, from } = value as { readonly role?: unknown; readonly from?: unknown };
  const name = role ?? from;
  return typeof name === 'string' && roleOf(name) !== null;
}

/** The names of role and content in a turn of a known layout; for a pair, the indexes. */
export function namesOfTurn(turn: object): readonly [role: string, content: string] {
  if (isList(turn)) return ['0', '1'];
  const role = Object.hasOwn(turn, 'role') ? 'role' : 'from';
  const content = Object.hasOwn(turn, 'content') ? 'content' : 'value';
  return [role, content];
}
