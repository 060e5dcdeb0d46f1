import { createHmac, timingSafeEqual } from 'node:crypto';
import { hasReusedVerdict } from '../../domain/item.ts';
import type { Shard } from '../../domain/shard.ts';
import { packSettled } from './item-row.ts';
import { StringTable } from './rows.ts';

/**
 * What a feeder settled of a shard, which only it and the sink can know: an HMAC-SHA-256, 64 hex digits, with the key of
 * the feeder's claim. Null for a shard without reused verdicts. A worker hands it on with the result, so it cannot bring a
 * verdict of its own as a reused one.
 */
export function settledMark(key: string, { shard, pass, items }: Shard): string | null {
  const names = new StringTable();
  const rows = items.filter(hasReusedVerdict).map((item) => packSettled(item, names));
  if (rows.length === 0) return null;
  const settled = JSON.stringify([shard, pass, names.list, rows]);
  return createHmac('sha256', Buffer.from(key, 'hex')).update(settled).digest('hex');
}

/** Whether two marks are the same. */
export function isSameMark(a: string | null, b: string | null): boolean {
  if (a === null || b === null || a.length !== b.length) return a === b;
  return timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
