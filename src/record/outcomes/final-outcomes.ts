import { Failure } from '../../domain/failure.ts';
import type { LogLine, OutcomeLine } from '../../domain/outcome.ts';
import { HAS } from '../log/commit-table.ts';
import {
  committedLines,
  type CommittedLinesInput,
  type CommittedShard,
  type Piece,
} from './committed-lines.ts';
import { outcomeOfCopy } from './copied-outcome.ts';
import { Originals } from './originals.ts';
import type { PlannedLane } from './plan-outline.ts';

/** Neighbouring outcomes of a run as verdicts.jsonl has them. */
export interface Outcomes {
  readonly shard: CommittedShard;
  /** Whole lines. */
  readonly bytes: Buffer;
  readonly count: number;
  /** The same parsed, by whoever asks first. */
  readonly lines: () => readonly OutcomeLine[];
  /** Those of them that are copies, and got their outcomes here. */
  readonly resolved: readonly OutcomeLine[];
  /** Committed lines that do not count: a later pass has others of the same items. */
  readonly superseded: readonly LogLine[];
}

interface FinalOutcomesInput extends CommittedLinesInput {
  /** Whether every planned item has a committed outcome. */
  readonly isComplete: boolean;
}

/** Min lines per batch. */
const MIN_BATCH = 1024;

/**
 * The outcomes of a run in corpus order, in batches. Committed lines are in their final form, and are passed on as they are,
 * except for copies of items in other shards, which get their outcomes here. In an incomplete run, a copy of an item without
 * an outcome has none either. Memory and failures: see `committedLines`
 * and `Originals`; Failure('internal') also for a complete run that lacks an item.
 */
export async function* finalOutcomes(
  lanes: readonly PlannedLane[],
  input: FinalOutcomesInput,
): AsyncGenerator<Outcomes[], void> {
  const originals = input.commits.tally.waiting === 0 ? null : await Originals.open(input.runDir);
  const finish = async (batch: readonly Piece[]): Promise<Outcomes[]> => {
    const found = (await originals?.find(originalsOf(batch))) ?? new Map<number, LogLine>();
    return batch.map((piece) => outcomesOf(piece, found, input.isComplete));
  };
  try {
    let batch: Piece[] = [];
    let lines = 0;
    let seq = 0;
    for await (const piece of committedLines(lanes, input)) {
      if (input.isComplete && !piece.superseded && piece.first !== seq) {
        throw new Failure('internal', `item ${seq} has no outcome in the log`);
      }
      seq = piece.first + piece.to - piece.from;
      batch.push(piece);
      lines += piece.to - piece.from;
      if (originals !== null && !piece.superseded) await note(originals, piece);
      if (lines < MIN_BATCH) continue;
      yield await finish(batch);
      batch = [];
      lines = 0;
    }
    if (batch.length > 0) yield await finish(batch);
  } finally {
    await originals?.close();
  }
}

/** Notes where the lines of a piece are, so that copies find them. */
async function note(originals: Originals, { shard, from, to, first }: Piece): Promise<void> {
  const { segment, offset } = shard.range;
  for (let index = from; index < to; index++) {
    const start = shard.startOf(index);
    const bytes = shard.startOf(index + 1) - start;
    const turned = originals.add(first + index - from, { segment, offset: offset + start, bytes });
    if (turned !== undefined) await turned;
  }
}

const mayWait = ({ shard, superseded }: Piece): boolean =>
  !superseded && (shard.range.has & HAS.waiting) !== 0;

/** The items that a batch has copies of. */
function originalsOf(batch: readonly Piece[]): Set<number> {
  const seqs = new Set<number>();
  for (const piece of batch) {
    if (!mayWait(piece)) continue;
    for (const line of piece.shard.lines().slice(piece.from, piece.to)) {
      if (line.status === 'same' && line.same_as < line.seq) seqs.add(line.same_as);
    }
  }
  return seqs;
}

function outcomesOf(piece: Piece, originals: ReadonlyMap<number, LogLine>, isComplete: boolean): Outcomes {
  const { shard, from, to, superseded } = piece;
  const none = { shard, resolved: [], superseded: [] };
  if (superseded) {
    const lines = shard.lines().slice(from, to);
    return { ...none, bytes: Buffer.alloc(0), count: 0, lines: () => [], superseded: lines };
  }
  if (!mayWait(piece)) {
    const lines = (): readonly OutcomeLine[] => shard.lines().slice(from, to) as OutcomeLine[];
    return { ...none, bytes: shard.slice(from, to), count: to - from, lines };
  }
  const lines: OutcomeLine[] = [];
  const resolved: OutcomeLine[] = [];
  const texts: Buffer[] = [];
  for (const [index, line] of shard.lines().slice(from, to).entries()) {
    if (line.status !== 'same') {
      lines.push(line);
      texts.push(shard.slice(from + index, from + index + 1));
      continue;
    }
    const original = originals.get(line.same_as) ?? null;
    if (original === null && !isComplete && line.same_as < line.seq) continue;
    const outcome = outcomeOfCopy(line, original);
    lines.push(outcome);
    resolved.push(outcome);
    texts.push(Buffer.from(`${JSON.stringify(outcome)}\n`));
  }
  return { ...none, bytes: Buffer.concat(texts), count: lines.length, lines: () => lines, resolved };
}
