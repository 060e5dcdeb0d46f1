/**
 * What a turn may be called in its record where the guard knows it by another role, in the order in which counts are
 * recorded. Names beyond these may be content, and count as `other`, as does a turn that names nobody. A `system` is
 * one that is judged as another role.
 */
export const ORIGINAL_ROLES = [
  ...(['system', 'developer', 'tool', 'function'] as const),
  ...(['human', 'gpt', 'bot', 'model', 'observation'] as const),
  ...(['agent', 'ai', 'chatbot', 'wizard', 'other'] as const),
] as const;

export type OriginalRole = (typeof ORIGINAL_ROLES)[number];

/** How many turns have each original role: of at least one role, each at least once, in the order of the list. */
export type RoleCounts = Readonly<Partial<Record<OriginalRole, number>>>;
