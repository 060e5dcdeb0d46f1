import { z } from 'zod';
import { LANES } from '../../domain/item.ts';
import { decodeLine, encodeLine } from '../../files/checked-line.ts';

const count = z.int().min(0);
const pass = z.int().min(1);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
/** Epoch of the verdict log that the writer of the line has claimed. */
const epoch = z.int().min(1);

/** Number of records of the corpora that were read, and that are judged; a file that is one item is a record too. */
const RECORD_COUNTS = z.strictObject({ read: count, selected: count });

/** Records before a source, given by its index. */
const RECORDS_BEFORE = RECORD_COUNTS.extend({ source: count });

/** A line of plan.jsonl for one shard. */
const SHARD = z.strictObject({
  shard: count,
  pass,
  lane: z.enum(LANES),
  /** The shard's seqs as inclusive ranges, ascending. */
  seqs: z.array(z.tuple([count, count]).readonly()).readonly(),
  /** Source index and record of the first item; the record is null if the item is a whole file. */
  source: count,
  from: count.nullable(),
  /** Source index and record of the last item. */
  to_source: count,
  to: count.nullable(),
  items: z.int().min(1),
  payload_sha256: sha256,
  /** Hash of everything recorded about the items before they are judged (`itemsSha256`). */
  items_sha256: sha256,
  /** In pass 1 of a trial: records before the source that was being read when the shard was planned. */
  records: RECORDS_BEFORE.optional(),
});

/** The line that closes a pass of the plan: after it, the number of items is known. */
const CLOSED = z.strictObject({
  closed: z.literal(true),
  pass,
  /** Shards and items of this pass. */
  shards: count,
  items: count,
  /** Items of this pass by source index. */
  items_by_source: z.array(count).readonly(),
  /** In pass 1 of a trial: all records that were read. */
  records: RECORD_COUNTS.optional(),
});

/**
 * Records that a planned shard was fed with items other than planned: their source changed, or is now read differently.
 * The outcomes of the shard may belong to these items.
 */
const CHANGED = z.strictObject({
  /** Number of the shard. */
  changed: count,
  items_sha256: sha256,
});

/** The first line that each writer appends. After it, lines of lower epochs are void. */
const OPENED = z.strictObject({ opened: epoch });

const FILE_LINE = z.union([
  SHARD.extend({ epoch }),
  CLOSED.extend({ epoch }),
  OPENED,
  CHANGED.extend({ epoch }),
]);

export type RecordCounts = Readonly<z.infer<typeof RECORD_COUNTS>>;
export type RecordsBefore = Readonly<z.infer<typeof RECORDS_BEFORE>>;
export type PlannedShard = Readonly<z.infer<typeof SHARD>>;
export type PlanClosed = Readonly<z.infer<typeof CLOSED>>;
export type PlanChanged = Readonly<z.infer<typeof CHANGED>>;
export type PlanLine = PlannedShard | PlanClosed;
export type PlanFileLine = Readonly<z.infer<typeof FILE_LINE>>;

/** A line of plan.jsonl, without its line end. */
export function encodePlanLine(line: PlanFileLine): string {
  return encodeLine(line);
}

/** Reads what `encodePlanLine` wrote: see `decodeLine`. */
export function decodePlanLine(bytes: Buffer): PlanFileLine | 'torn' | 'damaged' {
  return decodeLine(FILE_LINE, bytes);
}
