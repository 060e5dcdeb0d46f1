import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/domain/outcome.ts';
import { submittedTurns, type ItemRequest, type Turn } from '../../../src/domain/request.ts';
import type { Moderator } from '../../../src/moderate/moderator.ts';
import { conversation, prompt as prompted, response as answer } from '../../helpers/guards/requests.ts';
import { judgedItem } from '../../helpers/items.ts';
import { DEFAULT_JUDGING } from '../../helpers/run-config.ts';
import { moderateShard, textModerator } from '../../helpers/moderation.ts';
import { SmallGuard } from '../../helpers/guards/small-guard.ts';

const SEED = 20_261_121;

async function sendAll(request: ItemRequest, context: number) {
  const guards = new SmallGuard(context);
  const { outcomes } = await moderateShard({ items: [judgedItem(0, request)] }, guards);
  return { outcome: outcomes[0]!, guards };
}

/** Words that each stand once in a text, so that each can be found where it was sent. */
function numbered(prefix: string, words: number): string {
  return Array.from({ length: words }, (_, n) => `${prefix}${n} `).join('');
}

/** Whether pieces, which may overlap, make up the whole, in order. */
function expectWhole(whole: string, pieces: readonly string[]): void {
  let end = 0;
  for (const piece of pieces) {
    const at = whole.indexOf(piece, Math.max(0, end - piece.length));
    expect(at).toBeGreaterThanOrEqual(0);
    expect(whole.slice(end, at).trim()).toBe('');
    end = Math.max(end, at + piece.length);
  }
  expect(whole.slice(end).trim()).toBe('');
}

const sizedTurn = fc.tuple(
  ...[fc.constantFrom('system', 'system', 'user', 'assistant'), fc.integer({ min: 1, max: 120 })],
);
const turns = fc
  .array(sizedTurn, { minLength: 1, maxLength: 14 })
  .map((shapes) => shapes.map(([role, words], n): Turn => [role, numbered(`t${n}w`, words)]));

describe('what is sent of an item in windows', () => {
  it('is every turn of a conversation, whatever the sizes and roles', async () => {
    let windowed = 0;
    await fc.assert(
      fc.asyncProperty(turns, fc.integer({ min: 64, max: 700 }), async (messages, context) => {
        const { outcome, guards } = await sendAll(conversation(messages), context);
        if (outcome.judgement === null) {
          // Too short to be cut, or refused as it came.
          expect(['SEQUENCE_OVERFLOW', 'INVALID_CONVERSATION']).toContain(outcome.failure.error.code);
          return;
        }
        if (guards.judged.length > 1) windowed++;
        const sent = guards.judged.map((request) =>
          request.requestType === 'multiturn' ? submittedTurns(request) : [],
        );
        const texts = sent.flatMap((window) => window.map(([, text]) => text));
        for (const [, content] of messages) {
          const own = texts.filter((text) => content.includes(text));
          expectWhole(content, own);
        }
        expect(outcome.judgement.coverage).toMatchObject({ judged: messages.length, total: messages.length });
      }),
      { seed: SEED, numRuns: 500 },
    );
    expect(windowed).toBeGreaterThan(125);
  });

  it('is all of a prompt and all of its response, whichever is long', async () => {
    const words = fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 900 }));
    await fc.assert(
      fc.asyncProperty(words, words, fc.integer({ min: 64, max: 700 }), async (asked, answered, context) => {
        const prompt = numbered('p', asked);
        const response = numbered('r', answered);
        const { outcome, guards } = await sendAll(answer(prompt, response), context);
        expect(outcome.failure?.error.code ?? null).toBe(null);
        const sent = guards.judged.flatMap((request) =>
          request.requestType === 'response' ? [request] : [],
        );
        const prompts = sent.map((request) => request.prompt ?? '');
        expectWhole(prompt, prompts);
        const responses = sent.map((request) => request.response);
        expectWhole(response, responses);
        if (sent.length > 1) {
          const { judged, total } = outcome.judgement!.coverage;
          expect({ judged, total }).toEqual({ judged: response.length, total: response.length });
        }
      }),
      { seed: SEED, numRuns: 150 },
    );
  });
});

/** Words of several scripts, so that some texts have four bytes a token and some one. */
const scripts = fc.constantFrom('plain words. ', '言葉と文。', 'mixed 語 words. ', 'x');
const scriptedText = fc
  .tuple(scripts, fc.integer({ min: 1, max: 400 }))
  .map(([words, times]) => words.repeat(times) + 'end');

const role = fc.constantFrom('system', 'user', 'assistant');
const scriptedTurn: fc.Arbitrary<Turn> = fc.tuple(role, scriptedText);

const request: fc.Arbitrary<ItemRequest> = fc.oneof(
  scriptedText.map(prompted),
  fc.tuple(scriptedText, scriptedText).map(([asked, answered]) => answer(asked, answered)),
  fc
    .array(scriptedTurn, { minLength: 1, maxLength: 8 })
    .map((turns) => conversation([...turns, ['user', 'so?']])),
);

/** What has to be equal, whoever judged when. */
function substance({ judgement, failure }: Outcome): unknown {
  if (judgement === null) return failure.error;
  const { score, flagged, coverage } = judgement;
  return { score, flagged, coverage };
}

async function judgeOne(moderator: Moderator, item: ItemRequest): Promise<Outcome> {
  const shard = { shard: 0, pass: 1, lane: 'text', items: [judgedItem(0, item)] } as const;
  const { signal } = new AbortController();
  const { outcomes } = await moderator.moderate(shard, { judging: DEFAULT_JUDGING, session: 's', signal });
  return outcomes[0]!;
}

it('the windows of an item are the same whatever was judged before, in any order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(request, fc.integer()), { minLength: 2, maxLength: 6 }),
      fc.integer({ min: 40, max: 700 }),
      async (cases, context) => {
        const judgeAlone = ([item]: (typeof cases)[number]) =>
          judgeOne(textModerator(new SmallGuard(context)), item);
        const alone = await Promise.all(cases.map(judgeAlone));
        // One process judges them in another order.
        const moderator = textModerator(new SmallGuard(context));
        const order = cases.map((_, index) => index).sort((a, b) => cases[a]![1] - cases[b]![1]);
        for (const index of order) {
          const judged = await judgeOne(moderator, cases[index]![0]);
          expect(substance(judged)).toEqual(substance(alone[index]!));
        }
      },
    ),
    { seed: SEED, numRuns: 50 },
  );
});
