import { expect, test } from 'vitest';
import type { ItemCode } from '../../../src/domain/item-error.ts';
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

interface RestReply {
  readonly status: number;
  readonly body?: unknown;
}

const LLAMA = { family: 'llama-guard', model: 'meta-llama/Llama-Guard-3-8B' } as const;
const MODERATIONS = { family: 'moderations', model: 'omni-moderation-latest' } as const;
const TOO_LARGE =
  'Request too large for gpt-4o in organization org on tokens per min (TPM): Limit 10000, Requested 12000.';

/** Guards that turn away the text `always`, and judge every other one. */
const GUARDS = {
  chat: (reply: RestReply) =>
    openAiServer({ ...LLAMA, script: ({ content }) => (content === 'always' ? reply : undefined) }),
  'a list of texts': (reply: RestReply) =>
    openAiServer({
      ...MODERATIONS,
      script: ({ contents }) => (contents.includes('always') ? reply : undefined),
    }),
  REST: (reply: RestReply) =>
    restGuard({ script: ({ content }) => (content === 'always' ? reply : undefined) }),
};

test.each<[kind: keyof typeof GUARDS, what: string, reply: RestReply, code: ItemCode]>([
  ['chat', '429', { status: 429, body: { error: {} } }, 'GUARD_OVERLOADED'],
  ['a list of texts', '429', { status: 429, body: { error: {} } }, 'GUARD_OVERLOADED'],
  ['REST', '429', { status: 429 }, 'GUARD_OVERLOADED'],
  ['chat', 'too large', { status: 429, body: { error: { message: TOO_LARGE } } }, 'ITEM_TOO_LARGE'],
])('an item that a guard always turns away ends alone: %s, %s', async (kind, _, reply, code) => {
  const server = await GUARDS[kind](reply);
  const texts = ['good 1', 'good 2', 'always', 'good 3', 'good 4', 'good 5'].map(prompt);
  const outcomes = await judge(await connect([server]), texts);
  const attempts = code === 'GUARD_OVERLOADED' ? 5 : 1;
  expect(failure(outcomes[2])).toMatchObject({ error: { code }, attempts });
  for (const at of [0, 1, 3, 4, 5]) verdict(outcomes[at]);
});
