import { Failure } from '../../domain/failure.ts';
import type { LogLine } from '../../domain/outcome.ts';
import { TextBuffer } from '../../files/text-buffer.ts';
import { outcomeOfCopy } from './copied-outcome.ts';
import { mergeLines } from './merge-lines.ts';
import { Originals } from './originals.ts';
import type { PlannedLane } from './plan-outline.ts';
import type { CursorInput, LoggedLine, LoggedOutcome } from './shard-cursor.ts';

interface MergeInput extends CursorInput {
  /** Whether every planned item has a committed outcome. */
  readonly isComplete: boolean;
}

/** Bytes of an outcome line, roughly. */
const LINE_BYTES = 1024;

/**
 * The outcomes of a run in corpus order, in batches. Here copies get their outcomes: whoever reads outcomes sees outcome
 * lines only. In an incomplete run, a copy of an item without an outcome has none either.
 * Memory and failures: see `mergeLines` and `Originals`.
 */
export async function* mergeOutcomes(
  lanes: readonly PlannedLane[],
  input: MergeInput,
): AsyncGenerator<LoggedOutcome[], void> {
  const { runDir, commits, parse, isComplete } = input;
  if (commits.copies === 0) {
    for await (const batch of mergeLines(lanes, input)) {
      if (!batch.every(isOutcome)) throw new Failure('internal', 'the log has copies that no commit counts');
      yield batch;
    }
    return;
  }
  const originals = await Originals.open(runDir, parse);
  try {
    for await (const batch of mergeLines(lanes, input)) {
      for (const { line, start, end, range } of batch) {
        const { segment, offset } = range;
        const turned = originals.add(line.seq, { segment, offset: offset + start, bytes: end - start });
        if (turned !== undefined) await turned;
      }
      if (batch.every(isOutcome)) yield batch;
      else yield resolved(batch, await originals.find(originalsOf(batch)), isComplete);
    }
  } finally {
    await originals.close();
  }
}

const isOutcome = (logged: LoggedLine): logged is LoggedLine & LoggedOutcome => logged.line.status !== 'same';

/** The items that a batch has copies of. */
function originalsOf(batch: readonly LoggedLine[]): Set<number> {
  const seqs = new Set<number>();
  for (const { line } of batch) if (line.status === 'same' && line.same_as < line.seq) seqs.add(line.same_as);
  return seqs;
}

/** A batch with outcome lines in the place of its copies. */
function resolved(
  batch: readonly LoggedLine[],
  originals: ReadonlyMap<number, LogLine>,
  isComplete: boolean,
): LoggedOutcome[] {
  const text = new TextBuffer(LINE_BYTES * batch.length);
  const places: Omit<LoggedOutcome, 'lines'>[] = [];
  for (const { line, lines, start, end } of batch) {
    const from = text.length;
    if (line.status !== 'same') {
      text.add(lines.subarray(start, end));
      places.push({ line, start: from, end: text.length });
      continue;
    }
    const original = originals.get(line.same_as) ?? null;
    if (original === null && !isComplete && line.same_as < line.seq) continue;
    const outcome = outcomeOfCopy(line, original);
    text.add(JSON.stringify(outcome));
    text.add('\n');
    places.push({ line: outcome, start: from, end: text.length });
  }
  const lines = text.take();
  return places.map(({ line, start, end }) => ({ lines, start, end, line }));
}
