import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/domain/outcome.ts';
import { submittedTurns, type ItemRequest, type Turn } from '../../../src/domain/request.ts';
import { conversation, response as answer } from '../../helpers/guards/guard-pool.ts';
import { judgedItem } from '../../helpers/items.ts';
import { moderateShard } from '../../helpers/moderation.ts';
import { SmallGuard } from '../../helpers/guards/small-guard.ts';

const SEED = 20_261_121;

interface Sent {
  readonly outcome: Outcome;
  readonly guards: SmallGuard;
}

async function sendAll(request: ItemRequest, context: number): Promise<Sent> {
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

const turns = fc
  .array(
    fc.tuple(fc.constantFrom('system', 'system', 'user', 'assistant'), fc.integer({ min: 1, max: 120 })),
    {
      minLength: 1,
      maxLength: 14,
    },
  )
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
        for (const [, content] of messages) {
          const texts = sent.flatMap((window) => window.map(([, text]) => text));
          expectWhole(
            content,
            texts.filter((text) => content.includes(text)),
          );
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
        expectWhole(
          prompt,
          sent.map((request) => request.prompt ?? ''),
        );
        expectWhole(
          response,
          sent.map((request) => request.response),
        );
        if (sent.length > 1) {
          const { judged, total } = outcome.judgement!.coverage;
          expect({ judged, total }).toEqual({ judged: response.length, total: response.length });
        }
      }),
      { seed: SEED, numRuns: 150 },
    );
  });
});
