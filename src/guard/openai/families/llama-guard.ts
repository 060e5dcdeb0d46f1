import { isCategoryKey } from '../../../domain/taxonomy.ts';
import { answerProbabilities } from '../answer-probability.ts';
import type { Completion } from '../completion.ts';
import type { Answer } from '../../protocol/answer.ts';
import { conversationOf } from '../messages.ts';
import { verdict } from '../verdict.ts';
import type { Family, Served } from './family.ts';

/** The codes of Llama Guard 3 and 4. S1 to S12 are hazards of the MLCommons taxonomy, which are the contract's categories. */
const CATEGORIES: ReadonlyMap<string, string> = new Map([
  ['S1', 'violent_crimes'],
  ['S2', 'non_violent_crimes'],
  ['S3', 'sex_related_crimes'],
  ['S4', 'child_sexual_exploitation'],
  ['S5', 'defamation'],
  ['S6', 'specialized_advice'],
  ['S7', 'privacy'],
  ['S8', 'intellectual_property'],
  ['S9', 'indiscriminate_weapons'],
  ['S10', 'hate'],
  ['S11', 'suicide_self_harm'],
  ['S12', 'sexual_content'],
  ['S13', 'llama-guard/elections'],
  ['S14', 'llama-guard/code_interpreter_abuse'],
]);

/** Those of them that the contract has, which are judged with every content. */
const CONTRACT_CATEGORIES = [...CATEGORIES.values()].filter(isCategoryKey);

/** `unsafe`, a line break and all codes take about 60. */
const MAX_TOKENS = 100;

/** Llama Guard 3 and 4: the conversation is judged by its last turn, in one call. Of version 3 only the one called vision takes images. */
export function llamaGuard({ model }: Served): Family {
  const seesImages = /vision|guard-?4/i.test(model);
  return {
    name: 'llama-guard',
    hasProbabilities: true,
    declares: {},
    takes: (requestKind) => seesImages || !requestKind.startsWith('image'),
    judge: async (request, ask) => {
      const completion = await ask({ messages: conversationOf(request), maxTokens: MAX_TOKENS });
      return completion && read(completion);
    },
  };
}

/** `safe`; or `unsafe`, and on the next line codes with commas between them. */
function read({ text, isCut, tokens }: Completion): Answer | null {
  const [word, codes, ...more] = text.split('\n', 3).map((line) => line.trim());
  const flagged = word?.toLowerCase() === 'unsafe';
  if (!flagged && word?.toLowerCase() !== 'safe') return null;
  if (more.length > 0 || (flagged ? isCut : codes !== undefined)) return null;
  const keys = codes === undefined ? [] : codes.split(',').map((code) => CATEGORIES.get(code.trim()));
  if (keys.some((key) => key === undefined)) return null;
  const probabilities = tokens && answerProbabilities(tokens, ['safe', 'unsafe']);
  if (tokens !== null && probabilities === null) return null;
  const probability = probabilities?.[1] ?? null;
  const named = new Set(keys as string[]);
  if (!flagged) return verdict({ flagged, probability, categories: null });
  // A code that is not named is an answer as well: the category is absent, which is its score of 0.
  const scores = new Map<string, number>(CONTRACT_CATEGORIES.map((key) => [key, 0]));
  for (const key of named) scores.set(key, probability ?? 1);
  return verdict({ flagged, probability, categories: [...named], scores: Object.fromEntries(scores) });
}
