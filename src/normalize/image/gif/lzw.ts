/** Codes have at most twelve bits. */
const MAX_CODES = 4096;
const MAX_CODE_BITS = 12;

/**
 * Decodes the LZW data of one GIF frame (GIF89a, appendix F) into `indexes`, one palette index per byte. The data starts
 * at `at`, in blocks that each start with their length. Returns whether the data is valid: it fills `indexes`, or ends
 * early with an end code (the rest of `indexes` is unchanged). Data after that is ignored.
 */
export function decodeLzw(bytes: Uint8Array, at: number, minCodeSize: number, indexes: Uint8Array): boolean {
  const clear = 1 << minCodeSize;
  const end = clear + 1;
  // a code means the string of its prefix code plus one index
  const prefix = new Uint16Array(MAX_CODES);
  const last = new Uint8Array(MAX_CODES);
  const first = new Uint8Array(MAX_CODES);
  const length = new Uint32Array(MAX_CODES);
  for (let code = 0; code < clear; code++) {
    last[code] = first[code] = code;
    length[code] = 1;
  }
  let next = end + 1;
  let codeBits = minCodeSize + 1;
  let previous = -1;
  let filled = 0;
  let buffered = 0;
  let bufferedBits = 0;

  for (let blockEnd = at; ;) {
    while (bufferedBits < codeBits) {
      if (at === blockEnd) {
        const size = bytes[at] ?? 0;
        if (size === 0) return false;
        at++;
        blockEnd = Math.min(at + size, bytes.length);
        if (at === blockEnd) return false;
      }
      buffered |= bytes[at++]! << bufferedBits;
      bufferedBits += 8;
    }
    const code = buffered & ((1 << codeBits) - 1);
    buffered >>>= codeBits;
    bufferedBits -= codeBits;

    if (code === clear) {
      next = end + 1;
      codeBits = minCodeSize + 1;
      previous = -1;
      continue;
    }
    if (code === end) return true;
    // data may use the code that this step adds (`next`); any higher code is invalid
    if (previous < 0 ? code >= clear : code > next) return false;
    if (previous >= 0 && next < MAX_CODES) {
      prefix[next] = previous;
      first[next] = first[previous]!;
      last[next] = first[code === next ? previous : code]!;
      length[next] = length[previous]! + 1;
      next++;
      if (next === 1 << codeBits && codeBits < MAX_CODE_BITS) codeBits++;
    }
    let symbol = code;
    for (let position = filled + length[code]! - 1; position >= filled; position--) {
      indexes[position] = last[symbol]!; // no effect past the end
      symbol = prefix[symbol]!;
    }
    filled += length[code]!;
    if (filled >= indexes.length) return true;
    previous = code;
  }
}
