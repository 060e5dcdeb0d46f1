import { z } from 'zod';
import { CallError } from '../protocol/call-error.ts';

/** A generated token, and the alternatives listed by the server, which include the token itself. */
export interface Token {
  readonly text: string;
  readonly alternatives: readonly { readonly text: string; readonly logprob: number }[];
}

/** A chat model's answer. */
export interface Completion {
  /** The answer without the thinking before it. */
  readonly text: string;
  /** Whether it ended because of `max_tokens`. */
  readonly isCut: boolean;
  /** Null if the server gives no probabilities. */
  readonly tokens: readonly Token[] | null;
  /** Number of tokens in the prompt; null if the server does not report it. */
  readonly promptTokens: number | null;
  /** The model that answered, as the server names it. */
  readonly model: string;
}

const ALTERNATIVE = z.object({ token: z.string(), logprob: z.number() });

const COMPLETION = z.object({
  model: z.string().nullish(),
  usage: z.object({ prompt_tokens: z.number() }).nullish().catch(null),
  choices: z
    .array(
      z.object({
        finish_reason: z.string().nullish(),
        message: z.object({ content: z.string().nullish(), refusal: z.string().nullish() }),
        logprobs: z
          .object({
            content: z.array(ALTERNATIVE.extend({ top_logprobs: z.array(ALTERNATIVE).nullish() })).nullish(),
          })
          .nullish(),
      }),
    )
    .min(1),
});

const BEGIN_OF_THOUGHTS = '<think>';
const END_OF_THOUGHTS = '</think>';

/**
 * Reads a reply of `/v1/chat/completions`; null if it is malformed or empty. Throws `CallError` if the model declined
 * to answer.
 */
export function readCompletion(json: unknown): Completion | null {
  const parsed = COMPLETION.safeParse(json);
  if (!parsed.success) return null;
  const { message, finish_reason: finish, logprobs } = parsed.data.choices[0]!;
  if (finish === 'content_filter' || (message.refusal ?? '') !== '')
    throw new CallError('it declined to answer', { kind: 'refused', code: 'GUARD_REJECTED', named: false });
  const content = message.content ?? '';
  const thoughtsEnd = content.lastIndexOf(END_OF_THOUGHTS);
  const text = (thoughtsEnd < 0 ? content : content.slice(thoughtsEnd + END_OF_THOUGHTS.length)).trim();
  // Unfinished thinking contains no answer, whatever its text.
  if (text === '' || text.includes(BEGIN_OF_THOUGHTS)) return null;
  const tokens = logprobs?.content?.map(({ token, logprob, top_logprobs: top }) => {
    const alternatives = (top ?? []).map((other) => ({ text: other.token, logprob: other.logprob }));
    const isListed = alternatives.some((other) => other.text === token);
    return {
      text: token,
      alternatives: isListed ? alternatives : [...alternatives, { text: token, logprob }],
    };
  });
  return {
    text,
    isCut: finish === 'length',
    tokens: tokens === undefined || tokens.length === 0 ? null : tokens,
    promptTokens: parsed.data.usage?.prompt_tokens ?? null,
    model: parsed.data.model ?? '',
  };
}
