import { type WithOrigin, usageError, quoteForMessage } from '../usage-error.ts';

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

/** One week. A longer wait is a mistake, and Node.js timers hold at most 24.8 days. */
const MAX_MS = 7 * 24 * 3_600_000;

/** Parses a duration such as `30s`, `10m`, `1.5h` to milliseconds: 0 … 168h. Failure('usage') for anything else. */
export function parseDuration({ value, place }: WithOrigin<string>): number {
  const match = /^(\d{1,9}(?:\.\d{1,3})?)(s|m|h)$/.exec(value.trim());
  if (match === null) {
    throw usageError(place, `expected a duration such as 30s, 10m or 2h, found ${quoteForMessage(value)}`);
  }
  const ms = Math.round(Number(match[1]) * UNIT_MS[match[2]!]!);
  if (ms > MAX_MS) throw usageError(place, `expected at most 168h, found ${quoteForMessage(value)}`);
  return ms;
}

const AGE_MS: Readonly<Record<string, number>> = { ...UNIT_MS, d: 86_400_000, w: 7 * 86_400_000 };

/** Parses an age such as `12h`, `30d` or `8w` to milliseconds. Failure('usage') for anything else. */
export function parseAge({ value, place }: WithOrigin<string>): number {
  const match = /^(\d{1,6})(s|m|h|d|w)$/.exec(value.trim());
  if (match !== null) return Number(match[1]) * AGE_MS[match[2]!]!;
  throw usageError(place, `expected an age such as 12h, 30d or 8w, found ${quoteForMessage(value)}`);
}

/** Bounds of a worker's `--lock`, as typed. */
export const MIN_LOCK = '2s';
export const MAX_LOCK = '5m';

/** The longest time a worker may keep its jobs after its last sign of life, in milliseconds. */
export const MAX_LOCK_MS = parseDuration({ value: MAX_LOCK, place: 'MAX_LOCK' });

/**
 * Parses a fraction from 0 to 1, as JavaScript writes numbers or without a leading zero. Failure('usage') for anything
 * else.
 */
export function parseRate({ value, place }: WithOrigin<string>): number {
  const rate = /^(?:\d+|\d*\.\d+)(?:e-\d{1,3})?$/i.test(value) ? Number(value) : Number.NaN;
  if (!(rate <= 1)) {
    throw usageError(place, `expected a share from 0 to 1 (1 % is 0.01), found ${quoteForMessage(value)}`);
  }
  return rate;
}

/** Parses a fraction above 0 and at most 1: `1%`, `0.01`. Failure('usage') for anything else. */
export function parseShare({ value, place }: WithOrigin<string>): number {
  const found = /^(?<digits>\d{1,3}(?:\.\d{1,9})?|\.\d{1,9})(?<percent>%?)$/.exec(value)?.groups;
  const share =
    found === undefined ? Number.NaN : Number(found['digits']) / (found['percent'] === '%' ? 100 : 1);
  if (share > 0 && share <= 1) return share;
  throw usageError(
    place,
    `expected a share above 0, at most 1, such as 1% or 0.01; found ${quoteForMessage(value)}`,
  );
}
