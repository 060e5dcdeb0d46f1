/** Families of guards behind an OpenAI-compatible server: each asks and answers in its own way. */
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
 * Patterns in the name of a served model, without its separators. Llama Guard 1 and 2 are left out on purpose: their codes
 * name other categories; so is ShieldGemma 2, which no server of chats runs.
 */
const BY_NAME: readonly (readonly [name: RegExp, family: GuardFamily])[] = [
  [/llamaguard[34]/, 'llama-guard'],
  [/qwen3guard(?!stream)/, 'qwen3guard'],
  [/shieldgemma(?!24b)/, 'shieldgemma'],
  [/granite[0-9]{0,2}(?:dense)?guardian/, 'granite-guardian'],
  [/gptosssafeguard/, 'policy'],
  [/(?:omni|text)moderation/, 'moderations'],
];

/** The family of a served model by its name, as model hubs and servers write it; null for an unknown one. */
export function familyOfModel(model: string): GuardFamily | null {
  const plain = model.toLowerCase().replace(/[^a-z0-9]/g, '');
  return BY_NAME.find(([name]) => name.test(plain))?.[1] ?? null;
}

/** A written policy that a model of the family `policy` judges by. */
export interface GuardPolicy {
  /** SHA-256 of the policy file, 64 hex digits. */
  readonly sha256: string;
  readonly text: string;
}
