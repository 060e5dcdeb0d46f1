import { ORIGINAL_ROLES, type OriginalRole, type RoleCounts, type Role } from '../../../domain/request.ts';
import { isReadonlyArray } from '../../record.ts';

/**
 * Maps role names of the known transcript layouts, in lower case, to roles of the guard. The result of a tool is input
 * to the assistant and therefore judged as a user's.
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
export function parseRole(name: string): Role | null {
  return ROLE_BY_NAME.get(name) ?? ROLE_BY_NAME.get(name.trim().toLowerCase()) ?? null;
}

const ORIGINALS: ReadonlySet<string> = new Set(ORIGINAL_ROLES);

/** Returns the original role to record for a turn that is judged in another role; null if its name is that role. */
export function toOriginalRole(name: string | null, role: Role): OriginalRole | null {
  if (name === role) return null;
  const lower = name?.trim().toLowerCase() ?? '';
  if (lower === role) return null;
  return ORIGINALS.has(lower) ? (lower as OriginalRole) : 'other';
}

/** Whether a value looks like one turn of a conversation: a role and content, by name or as a pair. */
export function isTurnLike(value: unknown): boolean {
  if (isReadonlyArray(value)) return value.length === 2 && typeof value[0] === 'string';
  if (typeof value !== 'object' || value === null) return false;
  const named = (role: string, content: string): boolean =>
    Object.hasOwn(value, role) &&
    [content, 'tool_calls', 'function_call'].some((name) => Object.hasOwn(value, name));
  return named('role', 'content') || named('from', 'value');
}

/** Whether a value is a turn of a known layout with a known role. */
export function isKnownTurn(value: unknown): boolean {
  if (!isTurnLike(value)) return false;
  if (isReadonlyArray(value)) return typeof value[1] === 'string' && parseRole(String(value[0])) !== null;
  const { role, from } = value as { readonly role?: unknown; readonly from?: unknown };
  const name = role ?? from;
  return typeof name === 'string' && parseRole(name) !== null;
}

/** Returns the names of role and content in a turn with a known layout; for a pair, the indexes. */
export function turnFieldNames(turn: object): readonly [role: string, content: string] {
  if (isReadonlyArray(turn)) return ['0', '1'];
  const role = Object.hasOwn(turn, 'role') ? 'role' : 'from';
  const content = Object.hasOwn(turn, 'content') ? 'content' : 'value';
  return [role, content];
}

/** Counts the turns of a conversation by their original roles, from the first turn on. */
export class RoleCounter {
  readonly #originals: readonly (OriginalRole | null)[];
  readonly #counts = new Map<OriginalRole, number>();
  #next = 0;
  #current: RoleCounts | null = null;

  /** `originals` has one entry per turn: null for a turn that is judged in its own role or not at all. */
  constructor(originals: readonly (OriginalRole | null)[]) {
    this.#originals = originals;
  }

  /**
   * Counts the original roles of the first `turns` turns; null if all have their own role. `turns` must not decrease
   * between calls.
   */
  countUpTo(turns: number): RoleCounts | null {
    let isNew = false;
    for (; this.#next < turns; this.#next++) {
      const original = this.#originals[this.#next]!;
      if (original === null) continue;
      this.#counts.set(original, (this.#counts.get(original) ?? 0) + 1);
      isNew = true;
    }
    if (isNew) this.#current = this.#inOrder();
    return this.#current;
  }

  countAll(): RoleCounts | null {
    return this.countUpTo(this.#originals.length);
  }

  #inOrder(): RoleCounts {
    const ordered: Partial<Record<OriginalRole, number>> = {};
    for (const role of ORIGINAL_ROLES) {
      const count = this.#counts.get(role);
      if (count !== undefined) ordered[role] = count;
    }
    return ordered;
  }
}
