/** Families of guards behind an OpenAI-compatible server. Each has its own form of questions and answers. */
export const GUARD_FAMILIES = [
  'llama-guard',
  'qwen3guard',
  'shieldgemma',
  'granite-guardian',
  'policy',
  'moderations',
] as const;

export type GuardFamily = (typeof GUARD_FAMILIES)[number];

export function isGuardFamily(name: string): name is GuardFamily {
  return (GUARD_FAMILIES as readonly string[]).includes(name);
}

/**
 * Patterns for the name of a served model, without its separators. Llama Guard 1 and 2 are omitted on purpose because
 * their codes name other categories, and ShieldGemma 2 because no chat server runs it.
 */
const BY_NAME: readonly (readonly [name: RegExp, family: GuardFamily])[] = [
  [/llamaguard[34]/, 'llama-guard'],
  [/qwen3guard(?!stream)/, 'qwen3guard'],
  [/shieldgemma(?!24b)/, 'shieldgemma'],
  [/granite[0-9]{0,2}(?:dense)?guardian/, 'granite-guardian'],
  [/gptosssafeguard/, 'policy'],
  [/(?:omni|text)moderation/, 'moderations'],
];

/** Returns the family of a served model by its name, as written by model hubs and servers; null for an unknown one. */
export function familyOfModel(model: string): GuardFamily | null {
  const plain = model.toLowerCase().replace(/[^a-z0-9]/g, '');
  return BY_NAME.find(([name]) => name.test(plain))?.[1] ?? null;
}

/** A written policy that a model of the family `policy` applies. */
export interface GuardPolicy {
  /** SHA-256 of the policy file, 64 hex digits. */
  readonly sha256: string;
  readonly text: string;
}
