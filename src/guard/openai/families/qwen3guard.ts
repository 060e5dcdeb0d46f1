import { answerProbabilities } from '../answer-probability.ts';
import type { Completion } from '../completion.ts';
import type { Answer } from '../../protocol/answer.ts';
import { conversationOf } from '../messages.ts';
import { namedVerdict, verdict } from '../verdict.ts';
import type { Family } from './family.ts';

/** In lower case, as they are answered. */
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

/** The flag of what the model finds controversial: neither safe nor unsafe. */
const CONTROVERSIAL = 'qwen3guard/controversial';

const LEVELS = ['safe', 'controversial', 'unsafe'] as const;
const SAFETY = 'Safety:';

/** All lines with every category take about 70. */
const MAX_TOKENS = 128;
const MAX_LINES = 8;

/**
 * Qwen3Guard-Gen: the last turn is judged, in one call. `Unsafe` is flagged, with its probability as score. `Controversial` is
 * not, but has a flag of its own, so that it is reviewed.
 */
export function qwen3Guard(): Family {
  return {
    name: 'qwen3guard',
    hasProbabilities: true,
    declares: {},
    takes: (requestKind) => !requestKind.startsWith('image'),
    judge: async (request, ask) => {
      const completion = await ask({ messages: conversationOf(request), maxTokens: MAX_TOKENS });
      return completion && read(completion);
    },
  };
}

/** Lines `Safety: …`, `Categories: …`, and of responses `Refusal: …`, which says nothing about the content. */
function read({ text, isCut, tokens }: Completion): Answer | null {
  const lines = text.split('\n', MAX_LINES).map((line) => line.trim());
  const level = LEVELS.find((word) => lines[0]?.toLowerCase() === `${SAFETY.toLowerCase()} ${word}`);
  const named = lines.find((line) => line.startsWith('Categories:'));
  if (level === undefined || (level !== 'safe' && (named === undefined || isCut))) return null;
  const names = (named ?? '')
    .slice('Categories:'.length)
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'none');
  const keys = names.map((name) => CATEGORIES.get(name));
  if (keys.some((key) => key === undefined)) return null;
  const categories = [...new Set(keys as string[])];
  const probabilities = tokens && answerProbabilities(tokens, LEVELS, SAFETY);
  if (tokens !== null && probabilities === null) return null;
  const probability = probabilities?.[2] ?? null;
  if (level !== 'controversial') return namedVerdict(level === 'unsafe', probability, categories);
  return verdict({ flagged: false, probability, categories: [CONTROVERSIAL, ...categories] });
}
