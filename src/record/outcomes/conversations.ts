import { z } from 'zod';
import { DECISIONS, type Decision, type OutcomeLine } from '../../domain/outcome.ts';

const count = z.int().min(0);
const turnNumber = z.int().min(1);

/** A line of conversations.jsonl. Published as a JSON Schema. */
export const CONVERSATION = z
  .strictObject({
    schema: z.literal(1).describe('Version of the format.'),
    run: z.string().describe('Name of the run.'),
    id: z.string().describe('The id of its turns without the number of the turn.'),
    source: z
      .strictObject({
        path: z.string().describe('Name of the corpus and the path below it.'),
        row: count.nullable().describe('1-based record.'),
        line: count.nullable().describe('1-based line on which the record begins; null without lines.'),
      })
      .describe('Where the conversation is.'),
    part: z
      .string()
      .nullable()
      .describe('Which part of its record the conversation is; null for the record itself.'),
    first_seq: count.describe('Seq of its first turn; the others follow.'),
    turns: z.int().min(1).describe('Turns that are items.'),
    judged: count.describe('Turns with a verdict.'),
    decision: z
      .enum(DECISIONS)
      .nullable()
      .describe('The severest decision on a turn; null if a turn was not judged and none was flagged.'),
    tipped_by: z
      .strictObject({
        turn: turnNumber.describe('Its number in the record.'),
        seq: count.describe('Seq of its item.'),
        id: z.string().describe('Id of its item.'),
        decision: z.enum(DECISIONS).describe('The decision on it.'),
        decided_by: z.string().nullable().describe('The rule that made the decision.'),
      })
      .nullable()
      .describe('The first turn at which the conversation was no longer `allow`; null if there was none.'),
  })
  .meta({
    title: 'guardsweep conversation',
    description: 'A line of conversations.jsonl: a conversation that was judged at every turn.',
  });

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
    addTurn(this.#open!, line, turn);
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

function addTurn(open: Open, { seq, id, decision, decided_by }: OutcomeLine, turn: number): void {
  open.turns++;
  if (decision === null) return;
  open.judged++;
  if (DECISIONS.indexOf(decision) > DECISIONS.indexOf(open.severest)) open.severest = decision;
  if (decision !== 'allow') open.tippedBy ??= { turn, seq, id, decision, decided_by };
}
