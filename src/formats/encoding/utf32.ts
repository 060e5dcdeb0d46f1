const MAX_CODE_POINT = 0x10ffff;

/** Converts UTF-32 to UTF-8, piece by piece. Invalid code points and a partial one at the end are undecodable. */
export class Utf32Decoder {
  readonly #bigEndian: boolean;
  readonly #encode: (parts: readonly string[]) => Buffer;
  #rest: Buffer = Buffer.alloc(0);

  /** `encode` converts the decodable parts of a text to UTF-8. */
  constructor(bigEndian: boolean, encode: (parts: readonly string[]) => Buffer) {
    this.#bigEndian = bigEndian;
    this.#encode = encode;
  }

  write(chunk: Buffer): Buffer {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const end = bytes.length - (bytes.length % 4);
    this.#rest = Buffer.from(bytes.subarray(end));
    return this.#encode(this.#parts(bytes.subarray(0, end)));
  }

  end(): Buffer {
    return this.#rest.length === 0 ? this.#rest : this.#encode(['', '']);
  }

  #parts(bytes: Buffer): string[] {
    const parts: string[] = [];
    // A character has at most two UTF-16 units, which are four bytes too.
    const units = Buffer.allocUnsafe(bytes.length);
    let length = 0;
    for (let at = 0; at < bytes.length; at += 4) {
      const code = this.#bigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at);
      if (code > MAX_CODE_POINT || (code >= 0xd800 && code <= 0xdfff)) {
        parts.push(units.toString('utf16le', 0, length));
        length = 0;
      } else if (code < 0x10000) {
        length = units.writeUInt16LE(code, length);
      } else {
        length = units.writeUInt16LE(0xd800 + ((code - 0x10000) >> 10), length);
        length = units.writeUInt16LE(0xdc00 + (code & 0x3ff), length);
      }
    }
    parts.push(units.toString('utf16le', 0, length));
    return parts;
  }
}
