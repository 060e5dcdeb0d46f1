const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Deeper than any known record. `JSON.parse` needs memory for every level. */
const MAX_DEPTH = 10_000;

/** Values up to this size are cheap to parse at any depth. */
const HARMLESS_BYTES = 256 * 1024;

/** Whether parsing this JSON would take disproportionate memory. */
export function isNestedTooDeeply(bytes: Buffer): boolean {
  if (bytes.length <= HARMLESS_BYTES) return false;
  let depth = 0;
  let inString = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (inString) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) {
      inString = true;
    } else if (byte === 0x5b || byte === 0x7b) {
      if (++depth > MAX_DEPTH) return true;
    } else if (byte === 0x5d || byte === 0x7d) {
      depth--;
    }
  }
  return false;
}
