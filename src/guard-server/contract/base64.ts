/**
 * Decodes strict base64 (RFC 4648, section 4; padding is optional). Null for anything else, including line breaks and
 * the URL-safe alphabet.
 */
export function decodeBase64(encoded: Buffer): Buffer | null {
  const text = encoded.toString('latin1');
  const bytes = Buffer.from(text, 'base64');
  // Node skips invalid characters, so only strict base64 survives the round trip.
  const strict = bytes.toString('base64');
  return text === strict || text === strict.replace(/={1,2}$/, '') ? bytes : null;
}
