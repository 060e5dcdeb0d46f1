import { ShardCursor, type CursorInput, type LoggedOutcome } from './shard-cursor.ts';
import type { PlannedLane } from './plan-outline.ts';

/** Outcomes handed over together, at least. */
const BATCH = 1024;

/**
 * The outcomes of a run in corpus order, in batches: a merge over the lanes and passes, each of which ascends in
 * seq. Of several outcomes of one item, the one of the highest pass is given. Memory: one shard a lane and pass.
 * Failures: see ShardCursor.
 */
export async function* mergeOutcomes(
  lanes: readonly PlannedLane[],
  input: CursorInput,
): AsyncGenerator<LoggedOutcome[], void> {
  const cursors = lanes.map((lane) => new ShardCursor(lane, input));
  try {
    const live: ShardCursor[] = [];
    for (const cursor of cursors) if (await cursor.load()) live.push(cursor);
    let batch: LoggedOutcome[] = [];
    let lastSeq = -1;
    while (live.length > 0) {
      const cursor = firstOf(live);
      const outcome = cursor.outcomes[cursor.index++]!;
      // The highest pass comes first among equal seqs; what follows it is superseded.
      if (outcome.line.seq !== lastSeq) {
        batch.push(outcome);
        lastSeq = outcome.line.seq;
      }
      if (cursor.index < cursor.outcomes.length) continue;
      if (!(await cursor.load())) live.splice(live.indexOf(cursor), 1);
      if (batch.length >= BATCH) {
        yield batch;
        batch = [];
      }
    }
    if (batch.length > 0) yield batch;
  } finally {
    for (const cursor of cursors) await cursor.close();
  }
}

/** The cursor with the lowest seq next; among equals the highest pass. There are a few lanes and passes: no heap. */
function firstOf(cursors: readonly ShardCursor[]): ShardCursor {
  let first = cursors[0]!;
  for (let index = 1; index < cursors.length; index++) {
    const cursor = cursors[index]!;
    const seq = cursor.outcomes[cursor.index]!.line.seq;
    const lowest = first.outcomes[first.index]!.line.seq;
    if (seq < lowest || (seq === lowest && cursor.pass > first.pass)) first = cursor;
  }
  return first;
}
