import type { Role } from '../../domain/request.ts';

/**
 * Role names of the known transcript layouts, in lower case, and the role the guard knows them by. What a tool returns
 * is input to the assistant, so it is judged as a user's.
 */
const ROLE_BY_NAME: ReadonlyMap<string, Role> = new Map([
  // the guard's own
  ['system', 'system'],
  ['user', 'user'],
  ['assistant', 'assistant'],
  // OpenAI
  ['developer', 'system'],
  ['tool', 'user'],
  ['function', 'user'],
  // ShareGPT and its kin
  ['human', 'user'],
  ['gpt', 'assistant'],
  ['bot', 'assistant'],
  ['model', 'assistant'],
  ['observation', 'user'],
]);

/** The guard's role for a role name, in whatever case; null for an unknown one. */
export function roleOf(name: string): Role | null {
  return ROLE_BY_NAME.get(name) ?? ROLE_BY_NAME.get(name.trim().toLowerCase()) ?? null;
}
