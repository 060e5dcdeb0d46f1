import { Failure } from '../../domain/failure.ts';
import { plural } from '../../domain/text/plural.ts';
import { itemsSha256OfLines } from '../../domain/items-hash.ts';
import type { LogLine, OutcomeLine } from '../../domain/outcome.ts';
import { readPlan } from '../../ingest/plan/plan-file.ts';
import type { PlanLine, PlannedShard } from '../../ingest/plan/plan-line.ts';
import type { PlannedLane, PlanOutline } from './plan-outline.ts';
import type { CommittedRange, CommitTable } from '../log/commit-table.ts';
import { RangeReader } from '../log/committed-range.ts';

/** An outcome line: its bytes, and parsed. */
export interface LoggedOutcome {
  /** Bytes of several lines; `[start, end)` is the line with its newline. */
  readonly lines: Buffer;
  readonly start: number;
  readonly end: number;
  readonly line: OutcomeLine;
}

/** A line of the log; `lines` are those of its shard. */
export interface LoggedLine extends Omit<LoggedOutcome, 'line'> {
  readonly line: LogLine;
  /** Where its shard is in the log. */
  readonly range: CommittedRange;
}

const NEWLINE = 0x0a;

export interface CursorInput {
  readonly runDir: string;
  readonly planPath: string;
  /** Bytes of the plan that count. */
  readonly planBytes: number;
  /** Whether the items of a shard with that hash may have been fed. */
  readonly wasFed: PlanOutline['wasFed'];
  readonly commits: CommitTable;
  readonly signal: AbortSignal;
  /** Parses a line of the log; may validate it. */
  readonly parse: (text: string) => LogLine;
}

/**
 * Iterates the committed lines of one lane and pass in plan order, which is seq order, with one shard in memory.
 * Uncommitted shards are skipped. Failure('internal') when a shard's lines are not those of its planned items, or its
 * bytes are not those that were committed.
 */
export class ShardCursor {
  readonly pass: number;
  readonly #lane: PlannedLane;
  readonly #input: CursorInput;
  readonly #ranges: RangeReader;
  readonly #plan: AsyncGenerator<PlanLine[], void>;
  #planned: PlanLine[] = [];
  #plannedIndex = 0;
  /** Lines of the loaded shard; those before `index` were taken. */
  lines: readonly LoggedLine[] = [];
  index = 0;

  constructor(lane: PlannedLane, input: CursorInput) {
    this.pass = lane.pass;
    this.#lane = lane;
    this.#input = input;
    this.#ranges = new RangeReader(input.runDir);
    this.#plan = readPlan(input.planPath, { signal: input.signal, bytes: input.planBytes });
  }

  /** Loads the next committed shard; false when there is none. */
  async load(): Promise<boolean> {
    for (;;) {
      const planned = await this.#nextPlanned();
      if (planned === null) return false;
      const range = this.#input.commits.get(planned.shard);
      if (range === null) continue;
      this.#input.signal.throwIfAborted();
      const bytes = await this.#ranges.read(range);
      this.lines = this.#lines(planned, bytes, range);
      this.index = 0;
      return true;
    }
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

  #lines(planned: PlannedShard, bytes: Buffer, range: CommittedRange): LoggedLine[] {
    const fault = (what: string): Failure =>
      new Failure('internal', `log/${range.segment}: the outcomes of shard ${planned.shard} ${what}`);
    const texts = bytes.toString().split('\n');
    if (texts.pop() !== '') throw fault('do not end with a line');
    if (texts.length !== planned.items)
      throw fault(
        `are ${texts.length}, but ${planned.items} ${plural(planned.items, 'item is', 'items are')} planned`,
      );
    const lines: LoggedLine[] = [];
    let index = 0;
    let start = 0;
    for (const [first, last] of planned.seqs) {
      for (let seq = first; seq <= last; seq++) {
        const text = texts[index++]!;
        let line: LogLine;
        try {
          line = this.#input.parse(text);
        } catch (cause) {
          const failure = fault(`have no valid line ${index}`);
          failure.cause = cause;
          throw failure;
        }
        if (line.seq !== seq) throw fault(`have seq ${line.seq} where ${seq} is planned`);
        const end = bytes.indexOf(NEWLINE, start) + 1;
        lines.push({ lines: bytes, start, end, line, range });
        start = end;
      }
    }
    const items = itemsSha256OfLines(lines.map(({ line }) => line));
    if (!this.#input.wasFed(planned, items)) throw fault('are of other items than were planned');
    return lines;
  }
}
