import { createHmac, timingSafeEqual } from 'node:crypto';
import { hasReusedVerdict } from '../../domain/item.ts';
import type { Shard } from '../../domain/shard.ts';
import { packSettled, SETTLED_ITEM } from './item-schema.ts';

/**
 * What a feeder settled of a shard, which only it and the sink can know: an HMAC-SHA-256, 64 hex digits, with the key of
 * the feeder's claim. Null for a shard without reused verdicts. A worker hands it on with the result, so it cannot bring a
 * verdict of its own as a reused one.
 */
export function settledMark(key: string, { shard, pass, items }: Shard): string | null {
  const reused = items.filter(hasReusedVerdict);
  if (reused.length === 0) return null;
  // The schema brings the fields into one order, whether the items were packed before or not.
  const settled = JSON.stringify([shard, pass, reused.map((item) => SETTLED_ITEM.parse(packSettled(item)))]);
  return createHmac('sha256', Buffer.from(key, 'hex')).update(settled).digest('hex');
}

/** Whether two marks are the same. */
export function isSameMark(a: string | null, b: string | null): boolean {
  if (a === null || b === null || a.length !== b.length) return a === b;
  return timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
