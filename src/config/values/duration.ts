import { mistake, quoted, type Located } from '../mistake.ts';

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

/** A week: a longer wait is a mistake, and Node.js timers hold at most 24.8 days. */
const MAX_MS = 7 * 24 * 3_600_000;

/** Milliseconds of a duration such as `30s`, `10m`, `1.5h`: 0 … 168h. Failure('usage') for anything else. */
export function parseDuration({ value, place }: Located<string>): number {
  const match = /^(\d{1,9}(?:\.\d{1,3})?)(s|m|h)$/.exec(value.trim());
  if (match === null) {
    throw mistake(place, `expected a duration such as 30s, 10m or 2h, found ${quoted(value)}`);
  }
  const ms = Math.round(Number(match[1]) * UNIT_MS[match[2]!]!);
  if (ms > MAX_MS) throw mistake(place, `expected at most 168h, found ${quoted(value)}`);
  return ms;
}
