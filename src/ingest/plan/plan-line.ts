import type { Lane } from '../../domain/item.ts';

/** A line of plan.jsonl for one shard. */
export interface PlannedShard {
  readonly shard: number;
  readonly pass: number;
  readonly lane: Lane;
  /** The shard's seqs as inclusive ranges, ascending. */
  readonly seqs: readonly (readonly [first: number, last: number])[];
  /** Source index and record of the first item; the record is null when the item is a whole file. */
  readonly source: number;
  readonly from: number | null;
  /** Source index and record of the last item. */
  readonly to_source: number;
  readonly to: number | null;
  readonly items: number;
  readonly payload_sha256: string;
  /** Of all that the record says of the items before they are judged (`itemsSha256`). */
  readonly items_sha256: string;
}

/** The line that closes a pass of the plan: after it, the number of items is known. */
export interface PlanClosed {
  readonly closed: true;
  readonly pass: number;
  /** Shards and items of this pass. */
  readonly shards: number;
  readonly items: number;
  /** Items of this pass by source index. */
  readonly items_by_source: readonly number[];
}

export type PlanLine = PlannedShard | PlanClosed;

/** First line of every writer of the plan. From here on, lines of lower epochs are void. */
interface PlanOpened {
  /** Epoch of the verdict log that the writer has claimed. */
  readonly opened: number;
}

/**
 * Says that a planned shard was fed with other items than its line says: their source changed, or is read otherwise
 * by now. Its outcomes may be those of these items.
 */
export interface PlanChanged {
  /** Number of the shard. */
  readonly changed: number;
  readonly items_sha256: string;
}

/** A line as it stands in the file: shards, changes and closings name the epoch of their writer. */
export type PlanFileLine = PlanOpened | ((PlanLine | PlanChanged) & { readonly epoch: number });

/** What a file is recognised by later. */
export interface FileState {
  readonly bytes: number;
  /** Milliseconds since the epoch, with the fraction the file system gives. */
  readonly mtime_ms: number;
  readonly inode: number;
}

/** A file that is no source and says something of one: the text beside a media file, or the list it is in. */
export interface FrozenSidecar extends FileState {
  /** Both as a source's. */
  readonly path: string;
  readonly absolute: string;
}

/** One line of sources.jsonl: a file, as it was when the run was created. */
export interface FrozenSource extends FileState {
  /** 0-based; files are read in this order. */
  readonly source: number;
  /** Index into the configuration's `sources`. */
  readonly corpus: number;
  /**
   * What outcome lines show: the corpus's own name and the path below it, with `/`. Unique within a run. In the
   * recorded form.
   */
  readonly path: string;
  /** In the recorded form. */
  readonly absolute: string;
  /** Caption of an image, transcript of a clip; null when none is beside it. */
  readonly sidecar: FrozenSidecar | null;
  /**
   * What lists the files of the corpus with ids and captions: a source by its index (the list has its own number here),
   * or a file that is none, for a source that was named or matched by itself.
   */
  readonly manifest: number | FrozenSidecar | null;
  /** Whether its caption in the manifest is judged with it, rather than with the manifest's row. */
  readonly described: boolean;
}
