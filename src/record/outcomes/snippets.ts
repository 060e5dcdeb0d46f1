import type { Judgement } from '../../domain/outcome.ts';
import type { Policy } from '../../domain/policy.ts';
import { partsSha256 } from '../../domain/restriction/content-parts.ts';
import type { ItemRequest } from '../../domain/request.ts';
import type { ShardResult } from '../../domain/shard.ts';
import { PART_DIGITS, type Snippet, createSnippet } from '../../domain/text/snippet.ts';
import { decisionOn, mayHoldContent } from './outcome-line.ts';

/** The snippet of an item's content that its outcome may hold in a run with content; null if it may not hold one. */
export function allowedSnippet(policy: Policy, request: ItemRequest, judgement: Judgement): Snippet | null {
  const { decision } = decisionOn(policy, judgement);
  const { subcategoryFlags: subcategory_flags, subcategoryScores: subcategory_scores } = judgement;
  if (!mayHoldContent(policy, { decision, subcategory_flags, subcategory_scores })) return null;
  const text = createSnippet(request, judgement);
  const parts = new Set(partsSha256(request).map((sha256) => sha256.slice(0, PART_DIGITS)));
  return text === null ? null : { text, parts: [...parts] };
}

/** Adds the permitted snippets to the outcomes of a result. Its items must have their content. */
export function withSnippets(result: ShardResult, policy: Policy): ShardResult {
  const snippets = result.shard.items.map(({ request }, index) => {
    const judgement = result.outcomes[index]?.judgement ?? null;
    return request === null || judgement === null ? null : allowedSnippet(policy, request, judgement);
  });
  return { ...result, snippets };
}
