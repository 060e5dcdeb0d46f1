import { createHmac, timingSafeEqual } from 'node:crypto';
import { hasReusedVerdict } from '../../domain/item.ts';
import type { Shard } from '../../domain/shard.ts';
import { packSettled, SETTLED_ITEM } from './item-schema.ts';

/**
 * Mark of the verdicts that a feeder settled in a shard, which only the feeder and the sink can compute: an
 * HMAC-SHA-256, 64 hex digits, with the key of the feeder's claim. Null for a shard without reused verdicts. A worker
 * returns it with the result, so it cannot pass off a verdict of its own as a reused one.
 */
export function settledMark(key: string, { shard, pass, items }: Shard): string | null {
  const reused = items.filter(hasReusedVerdict);
  if (reused.length === 0) return null;
  // The schema puts the fields into a fixed order, whether or not the items were packed before.
  const settled = JSON.stringify([shard, pass, reused.map((item) => SETTLED_ITEM.parse(packSettled(item)))]);
  return createHmac('sha256', Buffer.from(key, 'hex')).update(settled).digest('hex');
}

/** Whether two marks are equal. */
export function isSameMark(a: string | null, b: string | null): boolean {
  if (a === null || b === null || a.length !== b.length) return a === b;
  return timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
