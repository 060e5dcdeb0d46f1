import { hash } from 'node:crypto';
import type { UnaryRequest } from '../../../domain/request.ts';
import { readYesOrNo } from '../answer-probability.ts';
import { toConversation } from '../messages.ts';
import { makeVerdict } from '../verdict.ts';
import type { Ask, Family } from './family.ts';

/** The model's four policies, in our words: what prompts and responses must not contain or ask for. */
const GUIDELINES = {
  dangerous_content:
    'Dangerous Content: it must not contain or ask for anything that helps to hurt oneself or others, such as building weapons or explosives, terrorism, or instructions for suicide.',
  harassment:
    'Harassment: it must not contain or ask for content that threatens, bullies, intimidates or abuses a person, such as threats of violence, denying that violent events happened, or mocking victims of tragedies.',
  hate: 'Hate Speech: it must not contain or ask for content that attacks people for their identity or a protected attribute, such as slurs, dehumanisation, or calls for discrimination or violence against protected groups.',
  sexually_explicit:
    'Sexually Explicit Content: it must not contain or ask for explicit descriptions or depictions of sexual acts; medical, scientific, educational and artistic content is allowed.',
} as const;

const POLICIES = Object.entries(GUIDELINES).map(([name, text]) => ({
  category: `shieldgemma/${name}`,
  guideline: `"${text}"`,
}));

/** The answer is the first word; an explanation would follow. */
const MAX_TOKENS = 2;
const ANSWER = /^(yes|no)(?![a-z])(?!.*\b(?:yes|no)\b)/is;

/**
 * ShieldGemma: one call per policy, which is an argument of its chat template and comes after the content. The first
 * question is asked before the others, which then find the content in the server's prompt cache. The score is that of
 * the worst policy.
 */
export function shieldGemma(): Family {
  return {
    seesImages: false,
    hasProbabilities: true,
    declares: { 'template-arguments': `guideline sha256:${hash('sha256', JSON.stringify(POLICIES))}` },
    otherArguments: [{ guideline: 'None.' }],
    judge,
  };
}

async function judge(request: UnaryRequest, ask: Ask): ReturnType<Family['judge']> {
  const conversation = toConversation(request);
  // The template accepts a prompt, or a prompt with its response.
  const messages = conversation.slice(conversation.at(-1)?.role === 'assistant' ? -2 : -1);
  const askFor = async ({ category, guideline }: (typeof POLICIES)[number]) => {
    const completion = await ask({ messages, maxTokens: MAX_TOKENS, templateArguments: { guideline } });
    const answer = completion && readYesOrNo(completion, ANSWER);
    return answer && { ...answer, category };
  };
  const [first, ...others] = POLICIES;
  const found = [await askFor(first!), ...(await Promise.all(others.map(askFor)))];
  const answers = found.filter((answer) => answer !== null);
  if (answers.length < POLICIES.length) return null;
  const scores = answers.flatMap(({ category, probability }) =>
    probability === null ? [] : [[category, probability] as const],
  );
  const hasAll = scores.length === POLICIES.length;
  const violated = answers.filter(({ isYes }) => isYes).map(({ category }) => category);
  return makeVerdict({
    flagged: violated.length > 0,
    probability: hasAll ? Math.max(...scores.map(([, score]) => score)) : null,
    categories: violated.length > 0 || hasAll ? violated : null,
    scores: hasAll ? Object.fromEntries(scores) : null,
  });
}
