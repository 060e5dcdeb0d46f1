import type { UnaryRequest } from '../../../domain/request.ts';
import { readYesOrNo } from '../answer-probability.ts';
import { toConversation } from '../messages.ts';
import { makeVerdict } from '../verdict.ts';
import type { Ask, Family, ServedModel } from './family.ts';

/** The risk that includes all others. */
const HARM = 'harm';
/** Asked only about users: nobody else can attempt one. */
const JAILBREAK = 'jailbreak';
/** Asked only if there is harm, to find out which kind. */
const RISKS = ['social_bias', 'violence', 'profanity', 'sexual_content', 'unethical_behavior', JAILBREAK];

/** An answer, with an empty thought before it or a confidence after it in some versions. */
const MAX_TOKENS = 48;

const SCORE = '<score>';
const SCORED = /^<score>\s*(yes|no)\s*<\/score>$/i;
const PLAIN = /^(yes|no)(?:\s*<confidence>\s*(?:high|low)\s*<\/confidence>)?$/i;

/**
 * Granite Guardian: one call per risk, which is an argument of its chat template. The first asks about harm in general,
 * whose probability is the score; the others follow only if it finds harm. The template puts the risk before the
 * content, so calls for the same risk share their beginning in the server's prompt cache.
 */
export function graniteGuardian({ model }: ServedModel): Family {
  // Versions up to 3.2 name a risk with this key, later ones with the other.
  const key = /(?:guardian|granite)[-_:]?3[.-]?[012](?![0-9])/i.test(model) ? 'risk_name' : 'criteria_id';
  const argumentsFor = (risk: string) => ({ guardian_config: { [key]: risk } });
  return {
    seesImages: false,
    hasProbabilities: true,
    declares: { 'template-arguments': `guardian_config.${key}` },
    otherArguments: [JAILBREAK, 'unethical_behavior'].map(argumentsFor),
    judge: (request, ask) => judge(request, argumentsFor, ask),
  };
}

async function judge(
  request: UnaryRequest,
  argumentsFor: (risk: string) => Readonly<Record<string, unknown>>,
  ask: Ask,
): ReturnType<Family['judge']> {
  const messages = toConversation(request);
  const askFor = async (risk: string) => {
    const templateArguments = argumentsFor(risk);
    const completion = await ask({ messages, maxTokens: MAX_TOKENS, templateArguments });
    if (completion === null) return null;
    const isScored = completion.text.startsWith(SCORE);
    return isScored ? readYesOrNo(completion, SCORED, SCORE) : readYesOrNo(completion, PLAIN);
  };
  const harm = await askFor(HARM);
  if (harm === null) return null;
  const { probability } = harm;
  if (!harm.isYes) return makeVerdict({ flagged: false, probability, categories: null });
  const risks = RISKS.filter((risk) => risk !== JAILBREAK || messages.at(-1)?.role === 'user');
  const found = await Promise.all(risks.map(async (risk) => [risk, await askFor(risk)] as const));
  const scores: Record<string, number> = {};
  const categories: string[] = [];
  for (const [risk, answer] of [[HARM, harm] as const, ...found]) {
    if (answer === null) return null;
    if (answer.isYes) categories.push(`granite-guardian/${risk}`);
    if (answer.probability !== null) scores[`granite-guardian/${risk}`] = answer.probability;
  }
  return makeVerdict({
    flagged: true,
    probability,
    categories,
    scores: probability === null ? null : scores,
  });
}
