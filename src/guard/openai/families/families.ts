import type { GuardFamily } from '../../../domain/guard/guard-family.ts';
import type { Family, Served } from './family.ts';
import { graniteGuardian } from './granite-guardian.ts';
import { llamaGuard } from './llama-guard.ts';
import { policyModel } from './policy.ts';
import { qwen3Guard } from './qwen3guard.ts';
import { shieldGemma } from './shieldgemma.ts';

/** The families of chat models; the moderation endpoint is no chat. */
export type ChatFamily = Exclude<GuardFamily, 'moderations'>;

const FAMILIES: Readonly<Record<ChatFamily, (served: Served) => Family>> = {
  'llama-guard': llamaGuard,
  qwen3guard: qwen3Guard,
  shieldgemma: shieldGemma,
  'granite-guardian': graniteGuardian,
  policy: policyModel,
};

/** How a served model of a family is asked. Throws `NotUsable` when something is missing for that. */
export function makeFamily(name: ChatFamily, served: Served): Family {
  return FAMILIES[name](served);
}
