import { isTurnLike } from '../../json/json-record.ts';
import { isList } from '../../record.ts';
import { roleOf } from './roles.ts';

/** Whether a value is a turn of a known layout whose role the guard has. */
export function isKnownTurn(value: unknown): boolean {
  if (!isTurnLike(value)) return false;
  if (isList(value)) return typeof value[1] === 'string' && roleOf(String(value[0])) !== null;
  const { role, from } = value as { readonly role?: unknown; readonly from?: unknown };
  const name = role ?? from;
  return typeof name === 'string' && roleOf(name) !== null;
}

/** Under which names a turn of a known layout has its role and its content; the indexes of a pair. */
export function namesOfTurn(turn: object): readonly [role: string, content: string] {
  if (isList(turn)) return ['0', '1'];
  const role = Object.hasOwn(turn, 'role') ? 'role' : 'from';
  const content = Object.hasOwn(turn, 'content') ? 'content' : 'value';
  return [role, content];
}
