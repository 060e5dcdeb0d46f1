import { Failure } from '../../domain/failure.ts';
import type { OutcomeLine } from '../../domain/outcome.ts';
import { plural } from '../../domain/text/plural.ts';
import { readPlan } from '../../ingest/plan/plan-file.ts';
import type { PlanLine, PlannedShard } from '../../ingest/plan/plan-line.ts';
import type { CommittedRange, CommitTable } from '../log/commit-table.ts';
import { RangeReader } from '../log/committed-range.ts';
import type { PlannedLane } from './plan-outline.ts';

const NEWLINE = 0x0a;

/** A committed shard: its lines as bytes that match the committed hash, parsed only on request. */
export class CommittedShard {
  readonly planned: PlannedShard;
  readonly range: CommittedRange;
  readonly bytes: Buffer;
  #lines: readonly OutcomeLine[] | null = null;
  /** Start of each line, and the end. */
  #starts: Float64Array | null = null;

  constructor(planned: PlannedShard, range: CommittedRange, bytes: Buffer) {
    this.planned = planned;
    this.range = range;
    this.bytes = bytes;
  }

  /**
   * Offset of a line in `bytes`; for the number of lines, the end. Failure('internal') unless there is one line per
   * planned item.
   */
  startOf(index: number): number {
    if (index === 0) return 0;
    if (index === this.planned.items && this.#starts === null) return this.bytes.length;
    this.#starts ??= this.#findStarts();
    return this.#starts[index]!;
  }

  /** The lines from `from` up to, not including, `to`, with their newlines. */
  slice(from: number, to: number): Buffer {
    return this.bytes.subarray(this.startOf(from), this.startOf(to));
  }

  /** All lines, parsed on the first call. Failure('internal') for lines that do not belong to the planned items. */
  lines(parse: (text: string) => OutcomeLine = trusted): readonly OutcomeLine[] {
    this.#lines ??= this.#parse(parse);
    return this.#lines;
  }

  /** The failure for lines that do not fit their shard. */
  fault(what: string, cause?: unknown): Failure {
    const of = `log/${this.range.segment}: the outcomes of shard ${this.planned.shard}`;
    return new Failure('internal', `${of} ${what}`, { cause });
  }

  #parse(parse: (text: string) => OutcomeLine): OutcomeLine[] {
    const lines: OutcomeLine[] = [];
    let start = 0;
    for (const [first, last] of this.planned.seqs) {
      for (let seq = first; seq <= last; seq++) {
        const end = this.startOf(lines.length + 1);
        let line: OutcomeLine;
        try {
          line = parse(this.bytes.toString('utf8', start, end - 1));
        } catch (cause) {
          throw this.fault(`have no valid line ${lines.length + 1}`, cause);
        }
        if (line.seq !== seq) throw this.fault(`have seq ${line.seq} where ${seq} is planned`);
        lines.push(line);
        start = end;
      }
    }
    return lines;
  }

  #findStarts(): Float64Array {
    const { items } = this.planned;
    const starts = new Float64Array(items + 1);
    let lines = 0;
    let start = 0;
    for (let end = this.bytes.indexOf(NEWLINE); end !== -1; end = this.bytes.indexOf(NEWLINE, start)) {
      start = end + 1;
      lines++;
      if (lines <= items) starts[lines] = start;
    }
    if (start !== this.bytes.length) throw this.fault('do not end with a line');
    if (lines === items) return starts;
    throw this.fault(`are ${lines}, but ${items} ${plural(items, 'item is', 'items are')} planned`);
  }
}

/** Parses lines without validation: this program wrote them, and their hash matches. */
const trusted = (text: string): OutcomeLine => JSON.parse(text) as OutcomeLine;

/** This text can only occur outside of strings, because quotation marks in strings are escaped. */
const ERROR_STATUS = Buffer.from(',"status":"error",');

interface PieceRange {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  /** Seq of the first line. */
  readonly first: number;
  readonly superseded: boolean;
}

/** Lines of a shard with consecutive seqs, as in verdicts.jsonl. */
export class Piece {
  readonly shard: CommittedShard;
  /** Seq of the first line. */
  readonly first: number;
  readonly count: number;
  /** Whether a later pass has lines of the same items, which replace these. */
  readonly superseded: boolean;
  readonly #from: number;

  constructor(shard: CommittedShard, { from, to, first, superseded }: PieceRange) {
    this.shard = shard;
    this.first = first;
    this.count = to - from;
    this.superseded = superseded;
    this.#from = from;
  }

  get bytes(): Buffer {
    return this.shard.slice(this.#from, this.#from + this.count);
  }

  /** All lines; the first call for a shard parses it. */
  lines(): readonly OutcomeLine[] {
    return this.shard.lines().slice(this.#from, this.#from + this.count);
  }

  /** The error lines; other lines are not parsed. */
  errors(): OutcomeLine[] {
    const { bytes } = this;
    const found: OutcomeLine[] = [];
    for (let at = bytes.indexOf(ERROR_STATUS); at !== -1; at = bytes.indexOf(ERROR_STATUS, at)) {
      const start = bytes.lastIndexOf(NEWLINE, at) + 1;
      at = bytes.indexOf(NEWLINE, at) + 1;
      found.push(JSON.parse(bytes.toString('utf8', start, at)) as OutcomeLine);
    }
    return found;
  }
}

export interface CommittedLinesInput {
  readonly runDir: string;
  readonly planPath: string;
  /** Bytes of the plan that count. */
  readonly planBytes: number;
  readonly commits: CommitTable;
  readonly signal: AbortSignal;
  /** Called with each shard once, before its first piece. */
  readonly check?: (shard: CommittedShard) => void;
}

/**
 * Reads the committed lines of a run in corpus order: a merge over lanes and passes, each of which ascends in seq. Seqs
 * come from the plan, so no line is parsed; a shard without gaps that overlaps no other is one piece. Keeps one shard
 * per lane and pass in memory. Failure('internal') for bytes that differ from those that were committed.
 */
export async function* committedLines(
  lanes: readonly PlannedLane[],
  input: CommittedLinesInput,
): AsyncGenerator<Piece, void> {
  const cursors = lanes.map((lane) => new LaneCursor(lane, input));
  try {
    const live: LaneCursor[] = [];
    for (const cursor of cursors) if (await cursor.load()) live.push(cursor);
    let last = -1;
    while (live.length > 0) {
      const cursor = firstOf(live);
      const superseded = cursor.seq === last;
      let until = Number.POSITIVE_INFINITY;
      for (const other of live) if (other !== cursor) until = Math.min(until, other.seq);
      const piece = cursor.take(superseded ? cursor.seq + 1 : Math.max(until, cursor.seq + 1), superseded);
      last = piece.first + piece.count - 1;
      yield piece;
      if (cursor.isAtEnd && !(await cursor.load())) live.splice(live.indexOf(cursor), 1);
    }
  } finally {
    for (const cursor of cursors) await cursor.close();
  }
}

/**
 * The cursor with the lowest next seq; if equal, the one of the highest pass. Lanes and passes are few, so no heap is
 * needed.
 */
function firstOf(cursors: readonly LaneCursor[]): LaneCursor {
  let first = cursors[0]!;
  for (let index = 1; index < cursors.length; index++) {
    const cursor = cursors[index]!;
    if (cursor.seq < first.seq || (cursor.seq === first.seq && cursor.pass > first.pass)) first = cursor;
  }
  return first;
}

/** The committed shards of one lane and pass in plan order, which is seq order. Uncommitted shards are skipped. */
class LaneCursor {
  readonly pass: number;
  readonly #lane: PlannedLane;
  readonly #input: CommittedLinesInput;
  readonly #ranges: RangeReader;
  readonly #plan: AsyncGenerator<PlanLine[], void>;
  #planned: PlanLine[] = [];
  #plannedIndex = 0;
  #shard: CommittedShard | null = null;
  /** Index of the next line, the range that its seq is in, and the seq. */
  #line = 0;
  #span = 0;
  seq = 0;

  constructor(lane: PlannedLane, input: CommittedLinesInput) {
    this.pass = lane.pass;
    this.#lane = lane;
    this.#input = input;
    this.#ranges = new RangeReader(input.runDir);
    this.#plan = readPlan(input.planPath, { signal: input.signal, bytes: input.planBytes });
  }

  get isAtEnd(): boolean {
    return this.#shard === null;
  }

  /** Loads the next committed shard; false when there is none. */
  async load(): Promise<boolean> {
    for (;;) {
      const planned = await this.#nextPlanned();
      if (planned === null) return false;
      const range = this.#input.commits.get(planned.shard);
      if (range === null) continue;
      this.#input.signal.throwIfAborted();
      const shard = new CommittedShard(planned, range, await this.#ranges.read(range));
      this.#input.check?.(shard);
      this.#shard = shard;
      this.#line = 0;
      this.#span = 0;
      this.seq = planned.seqs[0]![0];
      return true;
    }
  }

  /** Takes the next lines with consecutive seqs below `until`, at least one. */
  take(until: number, superseded: boolean): Piece {
    const shard = this.#shard!;
    const { seqs } = shard.planned;
    const last = seqs[this.#span]![1];
    const from = this.#line;
    const first = this.seq;
    this.seq = Math.min(until, last + 1);
    this.#line += this.seq - first;
    if (this.seq > last) {
      const next = seqs[++this.#span];
      if (next === undefined) this.#shard = null;
      else this.seq = next[0];
    }
    return new Piece(shard, { from, to: this.#line, first, superseded });
  }

  async close(): Promise<void> {
    await this.#plan.return();
    await this.#ranges.close();
  }

  async #nextPlanned(): Promise<PlannedShard | null> {
    for (;;) {
      while (this.#plannedIndex < this.#planned.length) {
        const line = this.#planned[this.#plannedIndex++]!;
        if (!('closed' in line) && line.pass === this.#lane.pass && line.lane === this.#lane.lane)
          return line;
      }
      const batch = await this.#plan.next();
      if (batch.done === true) return null;
      this.#planned = batch.value;
      this.#plannedIndex = 0;
    }
  }
}
