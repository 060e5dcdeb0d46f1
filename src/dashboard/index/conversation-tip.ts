import type { ItemDetail } from '../api/items.ts';
import type { OutcomeLine } from '../../domain/outcome.ts';
import { Conversations, type ConversationLine } from '../../record/outcomes/conversations.ts';
import type { LinesBySeq } from './lines-by-seq.ts';

/** Turns that are read at once, and of one conversation. */
const READ_TURNS = 256;
const MAX_TURNS = 20_000;

/**
 * The turn that tipped the conversation of a turn; null if none did, or the item is no turn. Its turns are neighbours in
 * corpus order, and there are no more before it than its number says.
 */
export async function conversationTip(
  lines: LinesBySeq,
  { seq, turn }: OutcomeLine,
  signal: AbortSignal,
): Promise<ItemDetail['tipped_by']> {
  if (turn === null) return null;
  const conversations = new Conversations();
  const first = Math.max(0, seq - Math.min(turn, MAX_TURNS) + 1);
  for (let from = first; from < first + MAX_TURNS; from += READ_TURNS) {
    signal.throwIfAborted();
    const seqs = Array.from({ length: READ_TURNS }, (_, index) => from + index);
    const batch = await lines.read(seqs);
    for (const line of batch) {
      const ended = conversations.add(line);
      if (ended !== null && holds(ended, seq)) return tipOf(ended);
    }
    if (batch.length < READ_TURNS) break;
  }
  const last = conversations.end();
  return last !== null && holds(last, seq) ? tipOf(last) : null;
}

function holds({ first_seq, turns }: ConversationLine, seq: number): boolean {
  return first_seq <= seq && seq < first_seq + turns;
}

function tipOf({ tipped_by }: ConversationLine): ItemDetail['tipped_by'] {
  return tipped_by === null ? null : { turn: tipped_by.turn, seq: tipped_by.seq };
}
