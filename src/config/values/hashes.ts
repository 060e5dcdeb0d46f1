import { type WithOrigin, usageError, quoteForMessage } from '../usage-error.ts';

/** Parses a chain head to 64 lower-case hex digits; `sha256:` may precede them. Failure('usage') for anything else. */
export function parseChainHead({ value, place }: WithOrigin<string>): string {
  const match = /^(?:sha256:)?([0-9a-f]{64})$/i.exec(value.trim());
  if (match === null) throw usageError(place, 'expected 64 hex digits, as the summary prints them');
  return match[1]!.toLowerCase();
}

/**
 * Parses a fingerprint id to its canonical form, `sha256:` and 64 lower-case hex digits; the prefix may be omitted.
 * Failure('usage') for anything else.
 */
export function parseFingerprintId({ value, place }: WithOrigin<string>): string {
  const match = /^(?:sha256:)?([0-9a-f]{64})$/i.exec(value.trim());
  if (match === null) {
    throw usageError(
      place,
      `expected sha256: and 64 hex digits, as the fingerprint command prints; found ${quoteForMessage(value)}`,
    );
  }
  return `sha256:${match[1]!.toLowerCase()}`;
}
