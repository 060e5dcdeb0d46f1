import { z } from 'zod';
import { LANES } from '../../domain/item.ts';
import { decodeLine, encodeLine } from '../../files/checked-line.ts';
import type { PlanFileLine } from './plan-line.ts';

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
