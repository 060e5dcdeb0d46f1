import { isCategoryKey } from '../../../domain/taxonomy.ts';
import type { Answer } from '../../protocol/answer.ts';
import { answerProbability } from '../answer-probability.ts';
import type { Completion } from '../completion.ts';
import { toConversation } from '../messages.ts';
import { makeVerdict } from '../verdict.ts';
import type { Family, ServedModel } from './family.ts';

/**
 * Codes of Llama Guard 3 and 4, from S1. The first twelve are MLCommons hazards, which are the contract's categories.
 */
const CATEGORIES = [
  'violent_crimes',
  'non_violent_crimes',
  'sex_related_crimes',
  'child_sexual_exploitation',
  'defamation',
  'specialized_advice',
  'privacy',
  'intellectual_property',
  'indiscriminate_weapons',
  'hate',
  'suicide_self_harm',
  'sexual_content',
  'llama-guard/elections',
  'llama-guard/code_interpreter_abuse',
];

/** Those of the contract's categories, which are judged for all content. */
const CONTRACT_CATEGORIES = CATEGORIES.filter(isCategoryKey);

/** `unsafe`, a line break and all codes take about 60. */
const MAX_TOKENS = 100;

/**
 * Llama Guard 3 and 4: one call judges the last turn of the conversation. Only the vision model of version 3 takes
 * images.
 */
export function llamaGuard({ model }: ServedModel): Family {
  return {
    seesImages: /vision|guard-?4/i.test(model),
    hasProbabilities: true,
    declares: {},
    judge: async (request, ask) => {
      const completion = await ask({ messages: toConversation(request), maxTokens: MAX_TOKENS });
      return completion && read(completion);
    },
  };
}

/** Reads `safe`, or `unsafe` with comma-separated codes on the next line. */
function read(completion: Completion): Answer | null {
  const { text, isCut } = completion;
  const [word, codes, ...more] = text.split('\n', 3).map((line) => line.trim());
  const flagged = word?.toLowerCase() === 'unsafe';
  if (!flagged && word?.toLowerCase() !== 'safe') return null;
  if (more.length > 0 || (flagged ? isCut : codes !== undefined)) return null;
  const named = (codes?.split(',') ?? []).map((code) => categoryOf(code.trim()));
  const probability = answerProbability(completion, ['unsafe', 'safe']);
  if (named.includes(undefined) || probability === undefined) return null;
  if (!flagged) return makeVerdict({ flagged, probability, categories: null });
  const categories = [...new Set(named as string[])];
  // A category that is not named was judged too: its score is 0.
  const scores = new Map<string, number>(CONTRACT_CATEGORIES.map((key) => [key, 0]));
  for (const key of categories) scores.set(key, probability ?? 1);
  return makeVerdict({ flagged, probability, categories, scores: Object.fromEntries(scores) });
}

function categoryOf(code: string): string | undefined {
  return /^S[1-9]\d?$/.test(code) ? CATEGORIES[Number(code.slice(1)) - 1] : undefined;
}
