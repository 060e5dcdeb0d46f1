import { ORIGINAL_ROLES, type OriginalRole } from '../../../domain/original-role.ts';
import type { Role } from '../../../domain/request.ts';

/**
 * Role names of the known transcript layouts, in lower case, and the role the guard knows them by. What a tool returns
 * is input to the assistant, so it is judged as a user's.
 */
const ROLE_BY_NAME: ReadonlyMap<string, Role> = new Map<Role | OriginalRole, Role>([
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

const ORIGINALS: ReadonlySet<string> = new Set(ORIGINAL_ROLES);

/** What is recorded of the name that a turn has in its record, when it is judged in a role; null when that is its name. */
export function originalRole(name: string | null, role: Role): OriginalRole | null {
  if (name === role) return null;
  const lower = name?.trim().toLowerCase() ?? '';
  if (lower === role) return null;
  return ORIGINALS.has(lower) ? (lower as OriginalRole) : 'other';
}
