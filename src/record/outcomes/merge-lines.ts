import { ShardCursor, type CursorInput, type LoggedLine } from './shard-cursor.ts';
import type { PlannedLane } from './plan-outline.ts';

/** Min lines per batch. */
const MIN_BATCH = 1024;

/**
 * The lines of a run's log in corpus order, in batches: a merge over lanes and passes, each of which ascends in seq. Of
 * several lines of one item, the one of the highest pass wins. Memory: one shard per lane and pass.
 * Failures: see ShardCursor.
 */
export async function* mergeLines(
  lanes: readonly PlannedLane[],
  input: CursorInput,
): AsyncGenerator<LoggedLine[], void> {
  const cursors = lanes.map((lane) => new ShardCursor(lane, input));
  try {
    const live: ShardCursor[] = [];
    for (const cursor of cursors) if (await cursor.load()) live.push(cursor);
    let batch: LoggedLine[] = [];
    let lastSeq = -1;
    while (live.length > 0) {
      const cursor = firstOf(live);
      const logged = cursor.lines[cursor.index++]!;
      // Among equal seqs the highest pass comes first; the others are superseded.
      if (logged.line.seq !== lastSeq) {
        batch.push(logged);
        lastSeq = logged.line.seq;
      }
      if (cursor.index < cursor.lines.length) continue;
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
    const seq = cursor.lines[cursor.index]!.line.seq;
    const lowest = first.lines[first.index]!.line.seq;
    if (seq < lowest || (seq === lowest && cursor.pass > first.pass)) first = cursor;
  }
  return first;
}
