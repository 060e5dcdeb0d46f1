import type { ItemDetail } from '../api/items.ts';
import type { OutcomeLine } from '../../domain/outcome.ts';
import type { LinesBySeq } from './lines-by-seq.ts';

/** Maximum turns read at once, and of one conversation. */
const READ_TURNS = 256;
const MAX_TURNS = 20_000;

/**
 * Finds the first turn of a conversation that was not allowed; null if there is none or the item is not a turn. The
 * turns of a conversation are adjacent in corpus order, and a turn's number limits how many precede it.
 */
export async function conversationTip(
  lines: LinesBySeq,
  { seq, turn, source, part }: OutcomeLine,
  signal: AbortSignal,
): Promise<ItemDetail['tipped_by']> {
  if (turn === null) return null;
  const isOfRecord = (line: OutcomeLine): boolean =>
    line.source.path === source.path && line.source.row === source.row;
  const first = Math.max(0, seq - Math.min(turn, MAX_TURNS) + 1);
  for (let from = first; from < first + MAX_TURNS; from += READ_TURNS) {
    signal.throwIfAborted();
    const batch = await lines.read(Array.from({ length: READ_TURNS }, (_, index) => from + index));
    for (const line of batch) {
      if (!isOfRecord(line) || line.part !== part || line.turn === null) continue;
      if (line.decision === 'review' || line.decision === 'block') return { turn: line.turn, seq: line.seq };
    }
    const last = batch.at(-1);
    if (last === undefined || (last.seq > seq && !isOfRecord(last))) break;
  }
  return null;
}
