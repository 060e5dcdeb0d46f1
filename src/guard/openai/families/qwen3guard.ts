import type { Answer } from '../../protocol/answer.ts';
import { answerProbability } from '../answer-probability.ts';
import type { Completion } from '../completion.ts';
import { toConversation } from '../messages.ts';
import { makeVerdict } from '../verdict.ts';
import type { Family } from './family.ts';

/** Categories in lower case, by the names that the model answers. */
const CATEGORIES: ReadonlyMap<string, string> = new Map([
  ['violent', 'qwen3guard/violent'],
  ['non-violent illegal acts', 'qwen3guard/non_violent_illegal_acts'],
  ['sexual content or sexual acts', 'qwen3guard/sexual_content_or_sexual_acts'],
  ['pii', 'qwen3guard/pii'],
  ['suicide & self-harm', 'qwen3guard/suicide_self_harm'],
  ['unethical acts', 'qwen3guard/unethical_acts'],
  ['politically sensitive topics', 'qwen3guard/politically_sensitive_topics'],
  ['copyright violation', 'qwen3guard/copyright_violation'],
  ['jailbreak', 'qwen3guard/jailbreak'],
]);

/** Flag for content that the model finds controversial: neither safe nor unsafe. */
const CONTROVERSIAL = 'qwen3guard/controversial';

const LEVELS = ['unsafe', 'controversial', 'safe'] as const;

/** Safety, categories and, for responses, whether the model refused, which does not concern the content. */
const ANSWER = /^Safety: (Safe|Controversial|Unsafe)(?:\nCategories:([^\n]*))?(?:\nRefusal: (?:Yes|No))?$/i;

/** All lines with every category take about 70. */
const MAX_TOKENS = 128;

/**
 * Qwen3Guard-Gen: one call judges the last turn. `Unsafe` is flagged, with its probability as score. `Controversial` is
 * not flagged, but has its own category, which sends the item to review.
 */
export function qwen3Guard(): Family {
  return {
    seesImages: false,
    hasProbabilities: true,
    declares: {},
    judge: async (request, ask) => {
      const completion = await ask({ messages: toConversation(request), maxTokens: MAX_TOKENS });
      return completion && read(completion);
    },
  };
}

function read(completion: Completion): Answer | null {
  const lines = completion.text.split('\n').flatMap((line) => line.trim() || []);
  const [, word, list] = ANSWER.exec(lines.join('\n')) ?? [];
  const level = LEVELS.find((one) => one === word?.toLowerCase());
  if (level === undefined || (level !== 'safe' && (list === undefined || completion.isCut))) return null;
  const names = (list ?? 'none').toLowerCase().split(',');
  const keys = names.map((name) => CATEGORIES.get(name.trim()));
  const hasNone = names.length === 1 && ['', 'none'].includes(names[0]!.trim());
  if (!hasNone && (level === 'safe' || keys.includes(undefined))) return null;
  const categories = hasNone ? [] : [...new Set(keys as string[])];
  const probability = answerProbability(completion, LEVELS, 'Safety:');
  if (probability === undefined) return null;
  if (level === 'controversial') {
    return makeVerdict({ flagged: false, probability, categories: [CONTROVERSIAL, ...categories] });
  }
  const flagged = level === 'unsafe';
  const scores =
    flagged && probability !== null
      ? Object.fromEntries(categories.map((key) => [key, probability] as const))
      : null;
  return makeVerdict({
    flagged,
    probability,
    categories: flagged ? categories : null,
    scores,
  });
}
