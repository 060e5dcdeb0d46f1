/**
 * Roles in a record that differ from the role a turn is judged in, in the order in which counts are recorded. Other names
 * may be content and count as `other`, and so does a turn without a role. `system` counts only turns that are judged in
 * another role.
 */
export const ORIGINAL_ROLES = [
  ...(['system', 'developer', 'tool', 'function'] as const),
  ...(['human', 'gpt', 'bot', 'model', 'observation'] as const),
  ...(['agent', 'ai', 'chatbot', 'wizard', 'other'] as const),
] as const;

export type OriginalRole = (typeof ORIGINAL_ROLES)[number];

/** Original role to number of turns: not empty, without zero counts, in the order of ORIGINAL_ROLES. */
export type RoleCounts = Readonly<Partial<Record<OriginalRole, number>>>;
