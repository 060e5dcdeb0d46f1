/** Converts UTF-16 to UTF-8, piece by piece. Unpaired surrogates and half a unit at the end are undecodable. */
export class Utf16Decoder {
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
    let end = bytes.length - (bytes.length % 2);
    if (end >= 2 && this.#isHighSurrogate(bytes, end - 2)) end -= 2;
    this.#rest = Buffer.from(bytes.subarray(end));
    return this.#encode(this.#text(bytes.subarray(0, end)).split(/\p{Surrogate}/u));
  }

  end(): Buffer {
    const { length } = this.#rest;
    return length === 0 ? this.#rest : this.#encode(['', '']);
  }

  #isHighSurrogate(bytes: Buffer, at: number): boolean {
    const unit = this.#bigEndian ? bytes.readUInt16BE(at) : bytes.readUInt16LE(at);
    return unit >= 0xd800 && unit <= 0xdbff;
  }

  #text(bytes: Buffer): string {
    return (this.#bigEndian ? Buffer.from(bytes).swap16() : bytes).toString('utf16le');
  }
}
