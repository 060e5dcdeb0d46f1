import { hash } from 'node:crypto';
import type { UnaryRequest } from '../../../domain/request.ts';
import { yesOrNo } from '../yes-or-no.ts';
import { conversationOf, type Message } from '../messages.ts';
import { verdict } from '../verdict.ts';
import type { Ask, Family } from './family.ts';

/** The model's four policies, in our words: what neither a prompt nor a response may hold or ask for. */
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

/** The answer is the first word; what follows would explain it. */
const MAX_TOKENS = 2;
// linear: anchored, and what follows is searched once.
const ANSWER = /^(yes|no)(?![a-z])(?!.*\b(?:yes|no)\b)/is;

/**
 * ShieldGemma: one call per policy, with the policy as an argument of its chat template, which puts it behind the content. So
 * the first question is asked before the others, which then find the content in the server's prompt cache. The score is
 * that of the worst policy.
 */
export function shieldGemma(): Family {
  return {
    name: 'shieldgemma',
    hasProbabilities: true,
    declares: {
      'template-arguments': `guideline sha256:${hash('sha256', JSON.stringify(POLICIES))}`,
    },
    otherArguments: [{ guideline: 'None.' }],
    takes: (requestKind) => !requestKind.startsWith('image'),
    judge,
  };
}

async function judge(request: UnaryRequest, ask: Ask): ReturnType<Family['judge']> {
  const messages = lastExchange(conversationOf(request));
  const [first, ...others] = POLICIES.map(({ guideline }) => async () => {
    const completion = await ask({ messages, maxTokens: MAX_TOKENS, templateArguments: { guideline } });
    return completion && yesOrNo(completion, ANSWER);
  });
  const found = [await first!(), ...(await Promise.all(others.map((question) => question())))];
  const answers = found.flatMap((answer, at) =>
    answer === null ? [] : [{ ...answer, category: POLICIES[at]!.category }],
  );
  if (answers.length < POLICIES.length) return null;
  const probabilities = answers.flatMap(({ category, probability }) =>
    probability === null ? [] : [[category, probability] as const],
  );
  const hasAll = probabilities.length === POLICIES.length;
  const violated = answers.filter(({ isYes }) => isYes).map(({ category }) => category);
  return verdict({
    flagged: violated.length > 0,
    probability: hasAll ? Math.max(...probabilities.map(([, probability]) => probability)) : null,
    categories: violated.length > 0 || hasAll ? violated : null,
    scores: hasAll ? Object.fromEntries(probabilities) : null,
  });
}

/** Its template takes a prompt, or a prompt with its response. */
function lastExchange(messages: readonly Message[]): readonly Message[] {
  return messages.slice(messages.at(-1)?.role === 'assistant' ? -2 : -1);
}
