import { mistake, quoted, type Located } from '../mistake.ts';

/** A share of 0 to 1, as JavaScript writes numbers or without a leading zero. Failure('usage') for anything else. */
export function parseRate({ value, place }: Located<string>): number {
  const rate = /^(?:\d+|\d*\.\d+)(?:e-\d{1,3})?$/i.test(value) ? Number(value) : Number.NaN;
  if (!(rate <= 1)) {
    throw mistake(place, `expected a share of 0 to 1 (1 % is 0.01), found ${quoted(value)}`);
  }
  return rate;
}
