import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/domain/outcome.ts';
import { type ItemRequest, submittedTurns, type Turn } from '../../../src/domain/request.ts';
import type { Judge } from '../../../src/moderate/parts/judge-parts.ts';
import { conversation, prompt } from '../../helpers/guards/requests.ts';
import { SmallGuard } from '../../helpers/guards/small-guard.ts';
import { judgedItem } from '../../helpers/items.ts';
import { MODEL, moderateShard } from '../../helpers/moderation.ts';

const score = (texts: string): number => (texts.includes('poison') ? 0.9 : 0.1);

const filler = 'harmless words follow each other. ';

async function outcomeOf(judge: Judge, request: ItemRequest): Promise<Outcome> {
  const { outcomes } = await moderateShard({ items: [judgedItem(0, request)] }, judge);
  return outcomes[0]!;
}

describe('a text beyond the context of the guard', () => {
  it('is judged in windows, the worst of which counts, all of it covered (C-706)', async () => {
    const text = `${filler.repeat(100)}ünd poison. ${filler.repeat(20)}`;
    const { judgement: verdict } = await outcomeOf(new SmallGuard(250, { score }), prompt(text));
    expect(verdict).toMatchObject({ score: 0.9, flagged: true, attempts: 1 });
    const { unit, judged, total, worst_at } = verdict!.coverage;
    const all = [...text].length;
    expect({ unit, judged, total }).toEqual({ unit: 'chars', judged: all, total: all });
    const window = [...text].slice(worst_at!, worst_at! + 1000).join('');
    expect(window).toContain('poison');
  });

  it('carries one fingerprint, or is judged again', async () => {
    let judged = 0;
    // The model changes in the middle: the first window is of the old one.
    const swapping = new SmallGuard(250, { fingerprint: () => (judged++ === 0 ? null : MODEL.id) });
    const { judgement: verdict } = await outcomeOf(swapping, prompt(filler.repeat(60)));
    expect(verdict?.fingerprint).toBe(MODEL.id);
    const never = new SmallGuard(250, { fingerprint: () => (judged++ % 2 === 0 ? null : MODEL.id) });
    const { failure } = await outcomeOf(never, prompt(filler.repeat(200)));
    expect(failure?.error.code).toBe('GUARD_INTERNAL');
  });
});

const system: Turn = ['system', 'be kind'];
const turn = (n: number, text = filler): Turn => [n % 2 === 0 ? 'user' : 'assistant', `${n}: ${text}`];
it('a conversation beyond the context of the guard keeps its system turn and slides over the rest', async () => {
  const guard = new SmallGuard(150, { score });
  const turns = Array.from({ length: 60 }, (_, n) => turn(n, n === 41 ? `${filler} poison` : filler));
  const { judgement: verdict } = await outcomeOf(guard, conversation([system, ...turns]));
  expect(verdict).toMatchObject({ score: 0.9, coverage: { unit: 'turns', judged: 61, total: 61 } });
  const seen = new Set<string>();
  for (const request of guard.judged) {
    if (request.requestType !== 'multiturn') throw new Error('not a conversation');
    const messages = submittedTurns(request);
    expect(messages[0]).toEqual(system);
    expect(messages.at(-1)![0]).not.toBe('system');
    for (const [, content] of messages) seen.add(content);
  }
  expect(seen.size).toBe(61);
  // Turn 41 of those after the system turn is the 43rd, at position 42.
  const worst = verdict!.coverage.worst_at!;
  expect(worst).toBeGreaterThan(30);
  expect(worst).toBeLessThanOrEqual(42);
});
