import { hash } from 'node:crypto';
import { z } from 'zod';
import { LANES } from '../domain/item.ts';
import type { PlanFileLine } from './plan-line.ts';

const count = z.int().min(0);
const pass = z.int().min(1);
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
  payload_sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

const CLOSING_LINE = z.strictObject({
  epoch,
  closed: z.literal(true),
  pass,
  shards: count,
  items: count,
  items_by_source: z.array(count),
});

const OPENING_LINE = z.strictObject({ opened: epoch });

const FILE_LINE = z.union([SHARD_LINE, CLOSING_LINE, OPENING_LINE]);

/** Digits of the check: enough for accidents, which is all that it is against. */
const CHECK_LENGTH = 16;
const SUFFIX_LENGTH = ',"check":""}'.length + CHECK_LENGTH;

/** What a line of plan.jsonl turns out to be: `torn` when it is no JSON, `damaged` when it is not as it was written. */
export type ReadPlanLine = PlanFileLine | 'torn' | 'damaged';

/** A line of plan.jsonl, without its line end. */
export function encodePlanLine(line: PlanFileLine): string {
  return withCheck(JSON.stringify(line));
}

/** Reads what `encodePlanLine` wrote. */
export function decodePlanLine(bytes: Buffer): ReadPlanLine {
  const text = bytes.toString();
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(text) as Record<string, unknown>;
  } catch {
    return 'torn';
  }
  if (text !== withCheck(`${text.slice(0, -SUFFIX_LENGTH)}}`)) return 'damaged';
  delete value['check'];
  const parsed = FILE_LINE.safeParse(value);
  return parsed.success ? parsed.data : 'damaged';
}

/** The JSON of an object with one more key, `check`: the beginning of the SHA-256 of the JSON without it. */
function withCheck(json: string): string {
  return `${json.slice(0, -1)},"check":"${hash('sha256', json).slice(0, CHECK_LENGTH)}"}`;
}
