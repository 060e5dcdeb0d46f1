import { ORIGINAL_ROLES, type OriginalRole } from '../../../domain/original-role.ts';
import type { Role } from '../../../domain/request.ts';

/**
 * Maps role names of the known transcript layouts, in lower case, to roles of the guard. The result of a tool is input to
 * the assistant, so it is judged as a user's.
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
  // ShareGPT and similar layouts
  ['human', 'user'],
  ['gpt', 'assistant'],
  ['bot', 'assistant'],
  ['model', 'assistant'],
  ['observation', 'user'],
]);

/** The guard's role for a role name in any case; null for an unknown name. */
export function roleOf(name: string): Role | null {
  return ROLE_BY_NAME.get(name) ?? ROLE_BY_NAME.get(name.trim().toLowerCase()) ?? null;
}

const ORIGINALS: ReadonlySet<string> = new Set(ORIGINAL_ROLES);

/** The original role to record for a turn that is judged in a role; null if its name is that role. */
export function originalRole(name: string | null, role: Role): OriginalRole | null {
  if (name === role) return null;
  const lower = name?.trim().toLowerCase() ?? '';
  if (lower === role) return null;
  return ORIGINALS.has(lower) ? (lower as OriginalRole) : 'other';
}
