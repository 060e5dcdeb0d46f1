/**
 * The bytes that base64 stands for (RFC 4648, section 4; the padding may be left out); null for anything else, line
 * breaks and the alphabet of URLs included.
 */
export function decodeBase64(encoded: Buffer): Buffer | null {
  const text = encoded.toString('latin1');
  const bytes = Buffer.from(text, 'base64');
  // Node skips whatever does not belong there; only what is strictly base64 comes back as it was.
  const strict = bytes.toString('base64');
  return text === strict || text === strict.replace(/={1,2}$/, '') ? bytes : null;
}
