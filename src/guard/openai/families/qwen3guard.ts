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
const CATEGORY_LIST = 'Categories:';

/** All lines with every category take about 70. */
const MAX_TOKENS = 128;

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

/**
 * The whole answer is a line `Safety: …`, then `Categories: …`, then for responses `Refusal: …`, which says nothing about the
 * content.
 */
function read({ text, isCut, tokens }: Completion): Answer | null {
  const lines = text.split('\n').flatMap((line) => line.trim() || []);
  const level = LEVELS.find((word) => lines[0]?.toLowerCase() === `${SAFETY.toLowerCase()} ${word}`);
  const named = lines[1]?.startsWith(CATEGORY_LIST) ? lines[1].slice(CATEGORY_LIST.length) : undefined;
  const rest = lines.slice(named === undefined ? 1 : 2);
  if (rest.length > 1 || rest.some((line) => !/^Refusal: (?:Yes|No)$/.test(line))) return null;
  if (level === undefined || (level !== 'safe' && (named === undefined || isCut))) return null;
  const names = (named ?? 'none').toLowerCase().split(',');
  const keys = names.map((name) => CATEGORIES.get(name.trim()));
  const hasNone = names.length === 1 && ['', 'none'].includes(names[0]!.trim());
  if (!hasNone && (level === 'safe' || keys.some((key) => key === undefined))) return null;
  const categories = hasNone ? [] : [...new Set(keys as string[])];
  const probabilities = tokens && answerProbabilities(tokens, LEVELS, SAFETY);
  if (tokens !== null && probabilities === null) return null;
  const probability = probabilities?.[2] ?? null;
  if (level !== 'controversial') return namedVerdict(level === 'unsafe', probability, categories);
  return verdict({ flagged: false, probability, categories: [CONTROVERSIAL, ...categories] });
}
