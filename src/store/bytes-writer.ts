/** Bytes of a text with its length, at most: lengths have one byte. */
const MAX_TEXT_BYTES = 255;

/** A value that has no place in an entry. */
export class DoesNotFit extends Error {
  override readonly name = 'DoesNotFit';
}

/** First bytes that announce a number of more than one byte. */
export const WIDE = { two: 253, four: 254, double: 255 } as const;

/** Writes the fields of an entry one after another, in little-endian order. */
export class BytesWriter {
  readonly #bytes: Buffer;
  #end: number;

  /** Begins at `start`. Fields that do not fit into `bytes` throw DoesNotFit. */
  constructor(bytes: Buffer, start: number) {
    this.#bytes = bytes;
    this.#end = start;
  }

  get end(): number {
    return this.#end;
  }

  byte(value: number): void {
    this.#bytes[this.#take(1)] = value;
  }

  bits16(value: number): void {
    this.#bytes.writeUInt16LE(value, this.#take(2));
  }

  bits48(value: number): void {
    this.#bytes.writeUIntLE(value, this.#take(6), 6);
  }

  float(value: number): void {
    this.#bytes.writeFloatLE(value, this.#take(4));
  }

  double(value: number): void {
    this.#bytes.writeDoubleLE(value, this.#take(8));
  }

  /** Any number; small non-negative integers take one byte. */
  number(value: number): void {
    if (!Number.isInteger(value) || value < 0 || value > 0xffff_ffff || Object.is(value, -0)) {
      this.byte(WIDE.double);
      this.double(value);
    } else if (value < WIDE.two) {
      this.byte(value);
    } else if (value <= 0xffff) {
      this.byte(WIDE.two);
      this.bits16(value);
    } else {
      this.byte(WIDE.four);
      this.#bytes.writeUInt32LE(value, this.#take(4));
    }
  }

  raw(bytes: Buffer): void {
    bytes.copy(this.#bytes, this.#take(bytes.length));
  }

  /** A text of at most 255 bytes in UTF-8. */
  text(value: string): void {
    const bytes = Buffer.from(value);
    if (bytes.length > MAX_TEXT_BYTES) throw new DoesNotFit();
    this.byte(bytes.length);
    this.raw(bytes);
  }

  #take(bytes: number): number {
    const at = this.#end;
    this.#end += bytes;
    if (this.#end > this.#bytes.length) throw new DoesNotFit();
    return at;
  }
}
