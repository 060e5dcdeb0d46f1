import { hasReusedVerdict } from '../domain/item.ts';
import type { Shard, ShardResult } from '../domain/shard.ts';
import type { SourceSnapshot } from '../ingest/sources/sources-file.ts';
import type { ShardCounts } from '../record/shard-tally.ts';

/** How far planning has got. */
export interface PlanProgress {
  /** More items were read and planned. */
  planned(items: number): void;
  /** Bytes read of the source that is being read. */
  sourceAt(bytes: number): void;
  sourceDone(source: SourceSnapshot): void;
  /** Nothing more will be planned. */
  close(): void;
}

/** How far a run in progress has got. Items of its current pass; those that are committed have an outcome in the log. */
export interface RunView {
  /** Items planned so far, and whether that is all. */
  readonly planned: number;
  readonly planClosed: boolean;
  /**
   * Items handed to the guards so far, and those of them that have an outcome, committed or not. Null where another
   * process has the items judged.
   */
  readonly sent: number | null;
  readonly answered: number | null;
  /** Verdicts that are committed. */
  readonly judged: number;
  /** Verdicts to review and to block. */
  readonly review: number;
  readonly block: number;
  /** Reused verdicts among them that this process committed; null where another process commits. */
  readonly reused: number | null;
  /** Errors that are committed. */
  readonly errors: number;
  /** Share of the sources' bytes that was read, 0 … 1. */
  readonly readShare: number;
  /** The cause of a delay in a few words, or null. */
  readonly note: string | null;
}

/** Counts the items between planning and the log in the process that judges them, for display. */
export class StageCounts {
  #beingJudged = 0;
  #waitingForCommit = 0;
  #reused = 0;

  /** Items that were handed to the guards and have no outcome yet. */
  get beingJudged(): number {
    return this.#beingJudged;
  }

  /** Items that have an outcome which is not committed yet. */
  get waitingForCommit(): number {
    return this.#waitingForCommit;
  }

  /** Reused verdicts that this process committed. */
  get reused(): number {
    return this.#reused;
  }

  /** A shard is handed to the guards. */
  sent({ items }: Shard): void {
    this.#beingJudged += items.length;
  }

  /** Each item of a shard has an outcome. */
  judged({ shard }: ShardResult): void {
    this.#beingJudged -= shard.items.length;
    this.#waitingForCommit += shard.items.length;
  }

  /** The outcomes of a shard are committed. */
  committed({ shard }: ShardResult): void {
    this.#waitingForCommit -= shard.items.length;
    this.#reused += shard.items.filter(hasReusedVerdict).length;
  }
}

/** Counts how far planning has got, for display. */
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

  /** How far the run has got, with what is committed of its pass. `stages`: of the process that judges, if it is this one. */
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

/** A commit counts a moment before its shard leaves the stage, so no stage may exceed the one before it. */
function stagesAfter(
  committed: number,
  planned: number,
  stages: StageCounts | null,
): Pick<RunView, 'sent' | 'answered'> {
  if (stages === null) return { sent: null, answered: null };
  const answered = Math.min(committed + stages.waitingForCommit, planned);
  return { sent: Math.min(answered + stages.beingJudged, planned), answered };
}
