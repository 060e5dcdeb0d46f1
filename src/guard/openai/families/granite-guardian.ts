import type { UnaryRequest } from '../../../domain/request.ts';
import type { Completion } from '../completion.ts';
import { conversationOf } from '../messages.ts';
import { verdict } from '../verdict.ts';
import { yesOrNo } from '../yes-or-no.ts';
import type { Ask, Family, Served } from './family.ts';

/** The risk that covers all others. */
const HARM = 'harm';

/** Asked for only where there is harm, to say which. */
const RISKS = ['social_bias', 'violence', 'profanity', 'sexual_content', 'unethical_behavior'] as const;
/** Something that only a user does. */
const JAILBREAK = 'jailbreak';

/** An answer, and in some versions an empty thought before it or a confidence behind it. */
const MAX_TOKENS = 48;

const SCORE = '<score>';
const SCORED = /^<score>\s*(yes|no)\s*<\/score>$/i;
const PLAIN = /^(yes|no)(?:\s*<confidence>\s*(?:high|low)\s*<\/confidence>)?$/i;

/**
 * Granite Guardian: one call per risk, which is an argument of its chat template. First it is asked for harm in general, whose
 * probability is the score; the other risks only where it finds harm. They come before the content, so that calls for the
 * same risk share their beginning in the server's prompt cache.
 */
export function graniteGuardian({ model }: Served): Family {
  // Up to 3.2 a risk is named by this key, since then by the other.
  const key = /(?:guardian|granite)[-_:]?3[.-]?[012](?![0-9])/i.test(model) ? 'risk_name' : 'criteria_id';
  return {
    name: 'granite-guardian',
    hasProbabilities: true,
    declares: { 'template-arguments': `guardian_config.${key}` },
    otherArguments: [JAILBREAK, 'unethical_behavior'].map((risk) => ({ guardian_config: { [key]: risk } })),
    takes: (requestKind) => !requestKind.startsWith('image'),
    judge: (request, ask) => judge(request, key, ask),
  };
}

async function judge(request: UnaryRequest, key: string, ask: Ask): ReturnType<Family['judge']> {
  const messages = conversationOf(request);
  const askFor = async (risk: string): Promise<ReturnType<typeof read>> => {
    const completion = await ask({
      messages,
      maxTokens: MAX_TOKENS,
      templateArguments: { guardian_config: { [key]: risk } },
    });
    return completion && read(completion);
  };
  const harm = await askFor(HARM);
  if (harm === null) return null;
  if (!harm.isYes) return verdict({ flagged: false, probability: harm.probability, categories: null });
  const risks = messages.at(-1)?.role === 'user' ? [...RISKS, JAILBREAK] : RISKS;
  const found = await Promise.all(risks.map(async (risk) => ({ risk, answer: await askFor(risk) })));
  const answers = [{ risk: HARM, answer: harm }, ...found];
  const scores: Record<string, number> = {};
  const categories: string[] = [];
  for (const { risk, answer } of answers) {
    if (answer === null) return null;
    if (answer.isYes) categories.push(`granite-guardian/${risk}`);
    if (answer.probability !== null) scores[`granite-guardian/${risk}`] = answer.probability;
  }
  const { probability } = harm;
  return verdict({ flagged: true, probability, categories, scores: probability === null ? null : scores });
}

/** `Yes`, with a confidence behind it or not; or `<score>yes</score>`. */
function read(completion: Completion): ReturnType<typeof yesOrNo> {
  if (completion.text.startsWith(SCORE)) return yesOrNo(completion, SCORED, SCORE);
  return yesOrNo(completion, PLAIN);
}
