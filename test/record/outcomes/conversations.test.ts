import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DECISIONS, type Decision, type OutcomeLine } from '../../../src/domain/outcome.ts';
import { type ConversationLine, Conversations } from '../../../src/record/outcomes/conversations.ts';
import { ConversationTally } from '../../../src/record/summary/conversation-counts.ts';
import { outcomeLine } from '../outcome-line.ts';

function turnLine(seq: number, of: string, turn: number, decision: Decision | null, row = 1): OutcomeLine {
  const line = outcomeLine({ seq });
  const source = { ...line.source, row };
  const by = decision === null || decision === 'allow' ? null : 'score>=0.5';
  return { ...line, id: `${of}#${turn}`, turn, source, decision, decided_by: by };
}

function conversationsOf(lines: readonly OutcomeLine[]): ConversationLine[] {
  const conversations = new Conversations();
  const found = lines.flatMap((line) => conversations.add(line) ?? []);
  return [...found, ...[conversations.end()].flatMap((last) => last ?? [])];
}

it('names the first turn at which a conversation was no longer allowed', () => {
  const [talk, ...others] = conversationsOf([
    turnLine(0, 'talk', 1, 'allow'),
    turnLine(1, 'talk', 2, 'review'),
    turnLine(2, 'talk', 3, 'block'),
    turnLine(3, 'talk', 4, 'allow'),
  ]);
  expect(others).toEqual([]);
  expect(talk).toMatchObject({ id: 'talk', first_seq: 0, turns: 4, judged: 4, decision: 'block' });
  expect(talk!.tipped_by).toEqual({
    turn: 2,
    seq: 1,
    id: 'talk#2',
    decision: 'review',
    decided_by: 'score>=0.5',
  });
});

it('decides nothing on a conversation with a turn that was not judged, unless another one was flagged', () => {
  const decisions = (...turns: (Decision | null)[]): Decision | null =>
    conversationsOf(turns.map((decision, index) => turnLine(index, 'c', index + 1, decision)))[0]!.decision;
  expect(decisions('allow', null)).toBeNull();
  expect(decisions('allow', 'allow')).toBe('allow');
  expect(decisions(null, 'review')).toBe('review');
});

it('tells neighbours with equal ids apart by their rows and by their first turns', () => {
  const found = conversationsOf([
    turnLine(0, 'c', 2, 'allow', 1),
    turnLine(1, 'c', 3, 'allow', 1),
    turnLine(2, 'c', 1, 'allow', 2),
    turnLine(3, 'c', 1, 'allow', 3),
    outcomeLine({ seq: 4 }),
    turnLine(5, 'c#1', 1, 'allow', 4),
  ]);
  expect(found.map(({ id, first_seq, turns }) => [id, first_seq, turns])).toEqual([
    ['c', 0, 2],
    ['c', 2, 1],
    ['c', 3, 1],
    ['c#1', 5, 1],
  ]);
});

it('counts each conversation and each turn once', () => {
  const turns = fc.array(fc.constantFrom(...DECISIONS, null), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(fc.array(turns, { maxLength: 6 }), (corpus) => {
      let seq = 0;
      const lines = corpus.flatMap((decisions, row) =>
        decisions.map((decision, index) => turnLine(seq++, `c${row}`, index + 1, decision, row)),
      );
      const found = conversationsOf(lines);
      expect(found.map((line) => line.turns)).toEqual(corpus.map(({ length }) => length));
      const tally = new ConversationTally();
      for (const line of found) tally.add(line);
      const counts = tally.counts(null);
      const decided = Object.values(counts?.by_decision ?? {}).reduce((sum, one) => sum + one, 0);
      expect(decided + (counts?.undecided ?? 0)).toBe(corpus.length);
    }),
  );
});
