import { z } from 'zod';
import { LANES } from '../../domain/item.ts';
import { withCheck, withoutCheck } from '../../files/line-check.ts';
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

/** A decoded line of plan.jsonl: `torn` if it is not JSON, `damaged` if its checksum or its schema does not match. */
type ReadPlanLine = PlanFileLine | 'torn' | 'damaged';

/** A line of plan.jsonl, without its line end. */
export function encodePlanLine(line: PlanFileLine): string {
  return withCheck(JSON.stringify(line));
}

/** Reads what `encodePlanLine` wrote. */
export function decodePlanLine(bytes: Buffer): ReadPlanLine {
  const line = bytes.toString();
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return 'torn';
  }
  const json = withoutCheck(line);
  if (json === null) return 'damaged';
  if (json !== line) delete value['check'];
  const parsed = FILE_LINE.safeParse(value);
  return parsed.success ? parsed.data : 'damaged';
}
