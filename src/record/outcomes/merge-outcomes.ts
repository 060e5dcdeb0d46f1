import { ShardCursor, type CursorInput, type LoggedOutcome } from './shard-cursor.ts';
import type { PlannedLane } from './plan-outline.ts';

/** Min outcomes per batch. */
const MIN_BATCH = 1024;

/**
 * The outcomes of a run in corpus order, in batches: a merge over lanes and passes, each of which ascends in seq. Of
 * several outcomes of one item, the one of the highest pass wins. Memory: one shard per lane and pass.
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
      // Among equal seqs the highest pass comes first; the others are superseded.
      if (outcome.line.seq !== lastSeq) {
        batch.push(outcome);
        lastSeq = outcome.line.seq;
      }
      if (cursor.index < cursor.outcomes.length) continue;
      if (!(await cursor.load())) live.splice(live.indexOf(cursor), 1);
      if (batch.length >= MIN_BATCH) {
        yield batch;
        batch = [];
      }
    }
    if (batch.length > 0) yield batch;
  } finally {
    for (const cursor of cursors) await cursor.close();
  }
}

/** The cursor whose next seq is the lowest; among equals the highest pass. Lanes and passes are few: no heap. */
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
