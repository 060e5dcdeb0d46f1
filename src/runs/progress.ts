import { hasReusedVerdict } from '../domain/item.ts';
import type { Shard, ShardResult } from '../domain/shard.ts';
import type { SourceSnapshot } from '../ingest/sources/sources-file.ts';
import type { ShardCounts } from '../record/shard-tally.ts';

/** Receives the progress of planning. */
export interface PlanProgress {
  /** Reports that more items were read and planned. */
  planned(items: number): void;
  /** Reports the bytes read of the current source. */
  sourceAt(bytes: number): void;
  sourceDone(source: SourceSnapshot): void;
  /** Reports that nothing more will be planned. */
  close(): void;
}

/** Progress of a run. Counts items of its current pass; committed items have an outcome in the log. */
export interface RunView {
  /** Items planned so far, and whether these are all. */
  readonly planned: number;
  readonly planClosed: boolean;
  /**
   * Items handed to the guards so far, and those with an outcome, committed or not. Null if another process has the
   * items judged.
   */
  readonly sent: number | null;
  readonly answered: number | null;
  /** Committed verdicts. */
  readonly judged: number;
  /** Committed verdicts with decision `review` and `block`. */
  readonly review: number;
  readonly block: number;
  /** Reused verdicts among them that this process committed; null if another process commits. */
  readonly reused: number | null;
  /** Committed errors. */
  readonly errors: number;
  /** Fraction of the sources' bytes that was read, 0 … 1. */
  readonly readShare: number;
  /** Cause of a delay in a few words, or null. */
  readonly note: string | null;
}

/** Counts the items between planning and the log, for display, in the process that judges them. */
export class StageCounts {
  #beingJudged = 0;
  #waitingForCommit = 0;
  #reused = 0;

  /** Items that were handed to the guards and have no outcome yet. */
  get beingJudged(): number {
    return this.#beingJudged;
  }

  /** Items with an outcome that is not committed yet. */
  get waitingForCommit(): number {
    return this.#waitingForCommit;
  }

  /** Reused verdicts that this process committed. */
  get reused(): number {
    return this.#reused;
  }

  /** Counts a shard that is handed to the guards. */
  sent({ items }: Shard): void {
    this.#beingJudged += items.length;
  }

  /** Counts a shard whose items all have an outcome. */
  judged({ shard }: ShardResult): void {
    this.#beingJudged -= shard.items.length;
    this.#waitingForCommit += shard.items.length;
  }

  /** Counts a shard whose outcomes are committed. */
  committed({ shard }: ShardResult): void {
    this.#waitingForCommit -= shard.items.length;
    this.#reused += shard.items.filter(hasReusedVerdict).length;
  }
}

/** Counts the progress of planning, for display. */
export class RunProgress implements PlanProgress {
  readonly #totalBytes: number;
  #doneBytes = 0;
  #currentBytes = 0;
  #planned = 0;
  #closed = false;

  constructor(sources: readonly SourceSnapshot[]) {
    this.#totalBytes = sources.reduce((sum, source) => sum + source.bytes, 0);
  }

  planned(items: number): void {
    this.#planned += items;
  }

  sourceAt(bytes: number): void {
    this.#currentBytes = bytes;
  }

  sourceDone(source: SourceSnapshot): void {
    this.#doneBytes += source.bytes;
    this.#currentBytes = 0;
  }

  close(): void {
    this.#closed = true;
  }

  /**
   * The run's progress, given the committed counts of its pass. `stages` are those of the judging process, if it is
   * this one.
   */
  view(
    { items, errors, review, block }: ShardCounts,
    stages: StageCounts | null,
    note: string | null,
  ): RunView {
    const read = Math.min(this.#doneBytes + this.#currentBytes, this.#totalBytes);
    return {
      planned: this.#planned,
      planClosed: this.#closed,
      ...stagesAfter(items, this.#planned, stages),
      judged: items - errors,
      review,
      block,
      reused: stages?.reused ?? null,
      errors,
      readShare: this.#closed || this.#totalBytes === 0 ? 1 : read / this.#totalBytes,
      note,
    };
  }
}

/** A commit is counted just before its shard leaves the stage, so this limits each stage to the one before it. */
function stagesAfter(
  committed: number,
  planned: number,
  stages: StageCounts | null,
): Pick<RunView, 'sent' | 'answered'> {
  if (stages === null) return { sent: null, answered: null };
  const answered = Math.min(committed + stages.waitingForCommit, planned);
  return { sent: Math.min(answered + stages.beingJudged, planned), answered };
}
