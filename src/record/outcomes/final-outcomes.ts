import { Failure } from '../../domain/failure.ts';
import type { CopyLine, LogLine, OutcomeLine } from '../../domain/outcome.ts';
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
  /** The errors among them. */
  readonly errors: () => readonly OutcomeLine[];
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
    if (originals === null) return batch.map((piece) => outcomesOf(piece));
    const copies = batch.map((piece) =>
      mayWait(piece) ? linesWith<CopyLine>(COPY_STATUS, bytesOf(piece)) : [],
    );
    const wanted = copies.flat().filter(({ line }) => line.same_as < line.seq);
    const found = await originals.find(new Set(wanted.map(({ line }) => line.same_as)));
    return batch.map((piece, index) =>
      copies[index]!.length === 0
        ? outcomesOf(piece)
        : resolvedOutcomes(piece, copies[index]!, found, input.isComplete),
    );
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

const bytesOf = ({ shard, from, to }: Piece): Buffer => shard.slice(from, to);

function outcomesOf(piece: Piece): Outcomes {
  const { shard, from, to, superseded } = piece;
  const none = { shard, resolved: [], superseded: [] };
  if (superseded) {
    const lines = shard.lines().slice(from, to);
    return {
      ...none,
      bytes: Buffer.alloc(0),
      count: 0,
      lines: () => [],
      errors: () => [],
      superseded: lines,
    };
  }
  const bytes = bytesOf(piece);
  const lines = (): readonly OutcomeLine[] => shard.lines().slice(from, to) as OutcomeLine[];
  return { ...none, bytes, count: to - from, lines, errors: () => errorsIn(bytes) };
}

/** The outcomes of a piece with copies that waited for their originals. */
function resolvedOutcomes(
  piece: Piece,
  copies: readonly FoundLine<CopyLine>[],
  originals: ReadonlyMap<number, LogLine>,
  isComplete: boolean,
): Outcomes {
  const own = bytesOf(piece);
  const resolved: OutcomeLine[] = [];
  const parts: Buffer[] = [];
  let at = 0;
  let dropped = 0;
  for (const { line, start, end } of copies) {
    parts.push(own.subarray(at, start));
    at = end;
    const original = originals.get(line.same_as) ?? null;
    if (original === null && !isComplete && line.same_as < line.seq) {
      dropped++;
      continue;
    }
    const outcome = outcomeOfCopy(line, original);
    resolved.push(outcome);
    parts.push(Buffer.from(`${JSON.stringify(outcome)}\n`));
  }
  const bytes = Buffer.concat([...parts, own.subarray(at)]);
  return {
    shard: piece.shard,
    bytes,
    count: piece.to - piece.from - dropped,
    lines: () => linesWith<OutcomeLine>(ANY_STATUS, bytes).map(({ line }) => line),
    errors: () => errorsIn(bytes),
    resolved,
    superseded: [],
  };
}

/** A line within bytes: `end` is behind its newline. */
interface FoundLine<T> {
  readonly line: T;
  readonly start: number;
  readonly end: number;
}

/** Keys read like this only outside of strings, in which quotation marks are escaped. */
const ANY_STATUS = Buffer.from(',"status":"');
const COPY_STATUS = Buffer.from(',"status":"same",');
const ERROR_STATUS = Buffer.from(',"status":"error",');
const NEWLINE = 0x0a;

const errorsIn = (bytes: Buffer): OutcomeLine[] =>
  linesWith<OutcomeLine>(ERROR_STATUS, bytes).map(({ line }) => line);

/** The lines with a status, of which only they are parsed. */
function linesWith<T>(status: Buffer, bytes: Buffer): FoundLine<T>[] {
  const found: FoundLine<T>[] = [];
  for (let at = bytes.indexOf(status); at !== -1; at = bytes.indexOf(status, at)) {
    const start = bytes.lastIndexOf(NEWLINE, at) + 1;
    at = bytes.indexOf(NEWLINE, at) + 1;
    found.push({ line: JSON.parse(bytes.toString('utf8', start, at)) as T, start, end: at });
  }
  return found;
}
