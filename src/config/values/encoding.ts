import { type WithOrigin, usageError, quoteForMessage } from '../usage-error.ts';

/** A WHATWG encoding label, in lower case. Failure('usage') for one that this Node.js does not know. */
export function parseEncoding({ value, place }: WithOrigin<string>): string {
  const label = value.trim().toLowerCase();
  try {
    new TextDecoder(label);
  } catch (error) {
    throw usageError(
      place,
      `${quoteForMessage(value)} is not an encoding; expected a WHATWG label such as windows-1252 or shift_jis`,
      error,
    );
  }
  return label;
}
