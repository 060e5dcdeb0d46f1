import { mistake, quoted, type Located } from '../mistake.ts';

/** A share above 0, at most 1: `1%`, `0.01`. Failure('usage') for anything else. */
export function parseShare({ value, place }: Located<string>): number {
  const found = /^(?<digits>\d{1,3}(?:\.\d{1,9})?|\.\d{1,9})(?<percent>%?)$/.exec(value)?.groups;
  const share =
    found === undefined ? Number.NaN : Number(found['digits']) / (found['percent'] === '%' ? 100 : 1);
  if (share > 0 && share <= 1) return share;
  throw mistake(place, `expected a share above 0, at most 1, such as 1% or 0.01; found ${quoted(value)}`);
}
