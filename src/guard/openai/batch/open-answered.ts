import type { GuardPolicy } from '../../../domain/guard/guard-policy.ts';
import type { CallOptions } from '../../protocol/connection.ts';
import { ChatGuard } from '../chat-guard.ts';
import { ModerationsGuard } from '../moderations-guard.ts';
import { parseOpenAiAddress } from '../openai-address.ts';
import type { OpenAiCalls } from '../openai-calls.ts';
import type { AnsweredGuard } from './answered-guard.ts';

/** Opens the guard at an address whose calls go to files. Throws `NotUsable`, or the signal's reason. */
export function openAnswered(
  url: string,
  calls: OpenAiCalls,
  { policy, ...options }: CallOptions & { readonly policy: GuardPolicy | null },
): Promise<AnsweredGuard> {
  const { model, family, isModerations } = parseOpenAiAddress({ name: url, address: url });
  if (isModerations) return new ModerationsGuard(calls, model).answered(options);
  return ChatGuard.answered(calls, { model, family, policy }, options);
}
