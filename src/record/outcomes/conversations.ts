import { DECISIONS, type Decision, type OutcomeLine } from '../../domain/outcome.ts';

/** One line of conversations.jsonl: a conversation that was judged at every turn. */
export interface ConversationLine {
  readonly schema: 1;
  readonly run: string;
  /** The id of its turns without the number of the turn. */
  readonly id: string;
  readonly source: Pick<OutcomeLine['source'], 'path' | 'row' | 'line'>;
  /** Which part of its record the conversation is; null for the record itself. */
  readonly part: string | null;
  /** The seq of its first turn; the others follow. */
  readonly first_seq: number;
  readonly turns: number;
  /** Turns with a verdict. */
  readonly judged: number;
  /** The severest decision on a turn; null if a turn was not judged and none was flagged. */
  readonly decision: Decision | null;
  /** The first turn at which the conversation was no longer `allow`; null if there was none. */
  readonly tipped_by: {
    readonly turn: number;
    readonly seq: number;
    readonly id: string;
    readonly decision: Decision;
    readonly decided_by: string | null;
  } | null;
}

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
    const turn = line.turn ?? null;
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
    const { run, seq, source, part = null } = open.first;
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
