import { mistake, type Located } from '../mistake.ts';

/** A chain head as 64 lower-case hex digits; `sha256:` may precede them. Failure('usage') for anything else. */
export function parseChainHead({ value, place }: Located<string>): string {
  const match = /^(?:sha256:)?([0-9a-f]{64})$/i.exec(value.trim());
  if (match === null) throw mistake(place, 'expected 64 hex digits, as the summary prints them');
  return match[1]!.toLowerCase();
}
