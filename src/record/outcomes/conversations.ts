import type { z } from 'zod';
import { DECISIONS, type Decision, type OutcomeLine } from '../../domain/outcome.ts';
import type { CONVERSATION } from './conversation-schema.ts';

/** One line of conversations.jsonl: a conversation that was judged at every turn. */
export type ConversationLine = Readonly<z.infer<typeof CONVERSATION>>;

/** A conversation that may have further turns. */
interface Open {
  readonly first: OutcomeLine;
  readonly id: string;
  turns: number;
  judged: number;
  severest: Decision;
  tippedBy: ConversationLine['tipped_by'];
}

/** Finds the conversations in outcome lines in corpus order, where the turns of each are neighbours. */
export class Conversations {
  #open: Open | null = null;

  /** Takes the next line; returns the conversation that ended before it, if one did. */
  add(line: OutcomeLine): ConversationLine | null {
    const turn = line.turn;
    if (turn === null) return this.end();
    const id = line.id.slice(0, -`#${turn}`.length);
    const { path, row } = line.source;
    const open = this.#open;
    const continues =
      open?.id === id && open.first.source.path === path && open.first.source.row === row && turn > 1;
    const ended = continues ? null : this.end();
    if (!continues) {
      this.#open = { first: line, id, turns: 0, judged: 0, severest: 'allow', tippedBy: null };
    }
    count(this.#open!, line, turn);
    return ended;
  }

  /** The conversation that ended with the last line, if one did. */
  end(): ConversationLine | null {
    const open = this.#open;
    this.#open = null;
    if (open === null) return null;
    const { run, seq, source, part } = open.first;
    const isKnown = open.judged === open.turns || open.tippedBy !== null;
    return {
      schema: 1,
      run,
      id: open.id,
      source: { path: source.path, row: source.row, line: source.line },
      part,
      first_seq: seq,
      turns: open.turns,
      judged: open.judged,
      decision: isKnown ? open.severest : null,
      tipped_by: open.tippedBy,
    };
  }
}

function count(open: Open, { seq, id, decision, decided_by }: OutcomeLine, turn: number): void {
  open.turns++;
  if (decision === null) return;
  open.judged++;
  if (DECISIONS.indexOf(decision) > DECISIONS.indexOf(open.severest)) open.severest = decision;
  if (decision !== 'allow') open.tippedBy ??= { turn, seq, id, decision, decided_by };
}
