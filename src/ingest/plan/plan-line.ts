import { z } from 'zod';
import { type Lane, LANES } from '../../domain/item.ts';
import { decodeLine, encodeLine } from '../../files/checked-line.ts';

/** Records of the corpora; a file that is one item counts as a record. */
export interface RecordCounts {
  readonly read: number;
  /** Those of them that are judged. */
  readonly selected: number;
}

/** Records before a source. */
export interface RecordsBefore extends RecordCounts {
  /** Index of the source. */
  readonly source: number;
}

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
  /** Hash of everything recorded about the items before they are judged (`itemsSha256`). */
  readonly items_sha256: string;
  /** In pass 1 of a trial: records before the source that was being read when the shard was planned. */
  readonly records?: RecordsBefore | undefined;
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
  /** In pass 1 of a trial: all records that were read. */
  readonly records?: RecordCounts | undefined;
}

export type PlanLine = PlannedShard | PlanClosed;

/** The first line that each writer appends. After it, lines of lower epochs are void. */
interface PlanOpened {
  /** Epoch of the verdict log that the writer has claimed. */
  readonly opened: number;
}

/**
 * Records that a planned shard was fed with items other than planned: their source changed, or is now read differently.
 * The outcomes of the shard may be those of these items.
 */
export interface PlanChanged {
  /** Number of the shard. */
  readonly changed: number;
  readonly items_sha256: string;
}

/** A line of plan.jsonl: shards, changes and closings carry the epoch of their writer. */
export type PlanFileLine = PlanOpened | ((PlanLine | PlanChanged) & { readonly epoch: number });

/** Identifies a file and its version: size, times of modification and change, and inode. */
export interface FrozenState {
  readonly bytes: number;
  /** Milliseconds since the Unix epoch, with the fraction that the file system provides. */
  readonly mtime_ms: number;
  /** Programs can set the modification time back after a write, but not this one. */
  readonly ctime_ms: number;
  readonly inode: number;
}

/** A file that is not a source but describes one: the text next to a media file, or a manifest. */
export interface FrozenSidecar extends FrozenState {
  /** As in FrozenSource. */
  readonly path: string;
  readonly absolute: string;
}

/** One line of sources.jsonl: a file, as it was when the run was created. */
export interface FrozenSource extends FrozenState {
  /** 0-based; files are read in this order. */
  readonly source: number;
  /** Index into the configuration's `sources`. */
  readonly corpus: number;
  /**
   * The path in outcome lines: the corpus's own name and the path below it, separated by `/`. Unique within a run. In
   * the recorded form.
   */
  readonly path: string;
  /** In the recorded form. */
  readonly absolute: string;
  /** Text file with the caption of an image or the transcript of a clip; null if there is none next to it. */
  readonly sidecar: FrozenSidecar | null;
  /**
   * The manifest of the corpus, which lists files with ids and captions: the index of a source (a manifest refers to
   * itself), or a file that is not a source, if only the listed file was named or matched.
   */
  readonly manifest: number | FrozenSidecar | null;
}

const count = z.int().min(0);
const pass = z.int().min(1);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const epoch = z.int().min(1);

const SHARD_LINE = z.strictObject({
  epoch,
  shard: count,
  pass,
  lane: z.enum(LANES),
  seqs: z.array(z.tuple([count, count])),
  source: count,
  from: count.nullable(),
  to_source: count,
  to: count.nullable(),
  items: z.int().min(1),
  payload_sha256: sha256,
  items_sha256: sha256,
  records: z.strictObject({ source: count, read: count, selected: count }).optional(),
});

const CHANGED_LINE = z.strictObject({ epoch, changed: count, items_sha256: sha256 });

const CLOSING_LINE = z.strictObject({
  epoch,
  closed: z.literal(true),
  pass,
  shards: count,
  items: count,
  items_by_source: z.array(count),
  records: z.strictObject({ read: count, selected: count }).optional(),
});

const OPENING_LINE = z.strictObject({ opened: epoch });

const FILE_LINE = z.union([SHARD_LINE, CLOSING_LINE, OPENING_LINE, CHANGED_LINE]);

/** A line of plan.jsonl, without its line end. */
export function encodePlanLine(line: PlanFileLine): string {
  return encodeLine(line);
}

/** Reads what `encodePlanLine` wrote: see `decodeLine`. */
export function decodePlanLine(bytes: Buffer): PlanFileLine | 'torn' | 'damaged' {
  return decodeLine(FILE_LINE, bytes);
}
