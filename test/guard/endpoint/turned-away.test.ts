import { describe, expect, test } from 'vitest';
import {
  closeAfterEach,
  connect,
  failure,
  judge,
  openAiServer,
  prompt,
  restGuard,
  verdict,
} from '../../helpers/guards/guard-pool.ts';

closeAfterEach();

const LLAMA = { family: 'llama-guard', model: 'meta-llama/Llama-Guard-3-8B' } as const;
const MODERATIONS = { family: 'moderations', model: 'omni-moderation-latest' } as const;
const TOO_LARGE =
  'Request too large for gpt-4o in organization org on tokens per min (TPM): Limit 10000, Requested 12000.';

const TEXTS = ['good 1', 'good 2', 'always', 'good 3', 'good 4', 'good 5'].map(prompt);

describe('an item that a guard always turns away, while it judges others', () => {
  test.each([
    ['429', { status: 429 }],
    ['503 with a pause', { status: 503, headers: { 'retry-after': '0' } }],
    ['a longer pause than an endpoint is kept for', { status: 429, headers: { 'retry-after': '11' } }],
  ])('ends as GUARD_OVERLOADED after its tries: %s', async (_, reply) => {
    const server = await openAiServer({
      ...LLAMA,
      script: ({ content }) => (content === 'always' ? { ...reply, body: { error: {} } } : undefined),
    });
    const outcomes = await judge(await connect([server]), TEXTS);
    expect(failure(outcomes[2])).toMatchObject({ error: { code: 'GUARD_OVERLOADED' }, attempts: 5 });
    for (const at of [0, 1, 3, 4, 5]) verdict(outcomes[at]);
  });

  test('ends so in a list of texts as well', async () => {
    const server = await openAiServer({
      ...MODERATIONS,
      script: ({ contents }) =>
        contents.includes('always') ? { status: 429, body: { error: {} } } : undefined,
    });
    const outcomes = await judge(await connect([server]), TEXTS);
    expect(failure(outcomes[2])).toMatchObject({ error: { code: 'GUARD_OVERLOADED' }, attempts: 5 });
    for (const at of [0, 1, 3, 4, 5]) verdict(outcomes[at]);
  });

  test('ends so over REST as well', async () => {
    const server = await restGuard({
      script: ({ content }) => (content === 'always' ? { status: 429 } : undefined),
    });
    const outcomes = await judge(await connect([server]), TEXTS);
    expect(failure(outcomes[2])).toMatchObject({ error: { code: 'GUARD_OVERLOADED' }, attempts: 5 });
    for (const at of [0, 1, 3, 4, 5]) verdict(outcomes[at]);
  });

  test.each([
    ['too large for the rate limit', { error: { code: 'rate_limit_exceeded', message: TOO_LARGE } }],
    ['larger than the limit', { error: { message: 'Limit 10000, Requested 12000' } }],
  ])('ends as ITEM_TOO_LARGE if it is %s', async (_, body) => {
    const server = await openAiServer({
      ...LLAMA,
      script: ({ content }) => (content === 'always' ? { status: 429, body } : undefined),
    });
    const outcomes = await judge(await connect([server]), TEXTS);
    expect(failure(outcomes[2])).toMatchObject({ error: { code: 'ITEM_TOO_LARGE' } });
    for (const at of [0, 1, 3, 4, 5]) verdict(outcomes[at]);
  });
});
