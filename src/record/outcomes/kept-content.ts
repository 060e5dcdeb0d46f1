import type { Decision, Judgement } from '../../domain/outcome.ts';
import type { Policy } from '../../domain/policy.ts';
import { partsSha256 } from '../../domain/restriction/content-parts.ts';
import { findRestriction, type GuardScores } from '../../domain/restriction/restriction.ts';
import type { ItemRequest } from '../../domain/request.ts';
import type { ShardResult } from '../../domain/shard.ts';
import { PART_DIGITS, type Snippet, createSnippet } from '../../domain/text/snippet.ts';
import { decisionOn } from './decision-on.ts';

/** What decides whether an outcome may hold a piece of its content. */
type Decided = GuardScores & { readonly decision: Decision | null };

/** Whether the outcome may hold a piece of its content, in a run with content: to review or block, and not restricted. */
export function mayHoldContent(policy: Policy, decided: Decided): boolean {
  const { decision } = decided;
  return (decision === 'review' || decision === 'block') && findRestriction(policy, decided) === null;
}

/** The piece of an item's content that its outcome may hold, in a run with content; null where it may hold none. */
export function keptSnippet(policy: Policy, request: ItemRequest, judgement: Judgement): Snippet | null {
  const { decision } = decisionOn(policy, judgement);
  const { subcategoryFlags: subcategory_flags, subcategoryScores: subcategory_scores } = judgement;
  if (!mayHoldContent(policy, { decision, subcategory_flags, subcategory_scores })) return null;
  const text = createSnippet(request, judgement);
  const parts = new Set(partsSha256(request).map((sha256) => sha256.slice(0, PART_DIGITS)));
  return text === null ? null : { text, parts: [...parts] };
}

/** A result with the pieces of content that its outcomes may hold. Its items must have their content. */
export function withSnippets(result: ShardResult, policy: Policy): ShardResult {
  const snippets = result.shard.items.map(({ request }, index) => {
    const judgement = result.outcomes[index]?.judgement ?? null;
    return request === null || judgement === null ? null : keptSnippet(policy, request, judgement);
  });
  return { ...result, snippets };
}
