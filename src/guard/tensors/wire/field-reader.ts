/** The bytes are not a protobuf message, or hold more values than allowed. */
export class MalformedMessage extends Error {
  override readonly name = 'MalformedMessage';
}

/** How many more fields and packed numbers a message may hold, including all embedded messages. */
export interface ValueBudget {
  left: number;
}

const VARINT = 0;
const FIXED64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED32 = 5;

/** Max bytes of a varint: 64 bits, 7 per byte. */
const MAX_VARINT = 10;

/** Max size of a name or id, in bytes. */
const MAX_TEXT = 1024 * 1024;

/**
 * Reads the fields of one protobuf message (https://protobuf.dev/programming-guides/encoding) in place, without building
 * objects. Trap: two bytes can encode a whole embedded message, so a message of a few megabytes could otherwise become
 * gigabytes of objects. Linear in the size of the message. Every method throws MalformedMessage for malformed input and
 * once the budget is used up.
 */
export class FieldReader {
  readonly #bytes: Buffer;
  readonly #budget: ValueBudget;
  #at = 0;
  #wireType = VARINT;
  #number = 0;

  constructor(bytes: Buffer, budget: ValueBudget) {
    this.#bytes = bytes;
    this.#budget = budget;
  }

  /** Number of the current field. */
  get number(): number {
    return this.#number;
  }

  /** Moves to the next field; one of the methods below must then read or skip its value. False at the end. */
  next(): boolean {
    if (this.#at >= this.#bytes.length) return false;
    const tag = this.#varint();
    this.#wireType = tag % 8;
    this.#number = Math.floor(tag / 8);
    if (this.#number === 0 || tag > 0xffff_ffff) throw new MalformedMessage('field number');
    this.#spend(1);
    return true;
  }

  /** The bytes of a string, of bytes or of an embedded message, as a view. */
  bytes(): Buffer {
    if (this.#wireType !== LENGTH_DELIMITED) throw new MalformedMessage('wire type');
    return this.#delimited();
  }

  text(): string {
    const bytes = this.bytes();
    if (bytes.length > MAX_TEXT) throw new MalformedMessage('length of a text');
    return bytes.toString('utf8');
  }

  embedded(): FieldReader {
    return new FieldReader(this.bytes(), this.#budget);
  }

  /** The value of an int64 field. Values beyond 2^53 are approximate. */
  integer(): number {
    if (this.#wireType !== VARINT) throw new MalformedMessage('wire type');
    return this.#signed();
  }

  /** Appends the values of a repeated int64 field, packed or not. Values beyond 2^53 are approximate. */
  integers(into: number[]): void {
    if (this.#wireType === VARINT) {
      into.push(this.#signed());
      return;
    }
    const packed = new FieldReader(this.bytes(), this.#budget);
    while (packed.#at < packed.#bytes.length) {
      this.#spend(1);
      into.push(packed.#signed());
    }
  }

  /** The values of a repeated float field, packed or not: 4 bytes each, little-endian, as a view. */
  floats(): Buffer {
    if (this.#wireType === FIXED32) {
      this.#advance(4);
      return this.#bytes.subarray(this.#at - 4, this.#at);
    }
    const packed = this.bytes();
    if (packed.length % 4 !== 0) throw new MalformedMessage('length of floats');
    return packed;
  }

  skip(): void {
    switch (this.#wireType) {
      case VARINT:
        this.#varint();
        return;
      case FIXED64:
        this.#advance(8);
        return;
      case LENGTH_DELIMITED:
        this.#delimited();
        return;
      case FIXED32:
        this.#advance(4);
        return;
      default:
        throw new MalformedMessage('wire type');
    }
  }

  #delimited(): Buffer {
    const length = this.#varint();
    const from = this.#at;
    this.#advance(length);
    return this.#bytes.subarray(from, this.#at);
  }

  #advance(bytes: number): void {
    if (this.#at + bytes > this.#bytes.length) throw new MalformedMessage('end');
    this.#at += bytes;
  }

  /** 64-bit two's complement. The complement is taken before any rounding. */
  #signed(): number {
    const last = this.#at + MAX_VARINT - 1;
    const isNegative = this.#bytes[last] === 1 && this.#isLongVarint(last);
    return isNegative ? -1 - this.#varint(0x7f) : this.#varint();
  }

  /** Whether the varint at the current position reaches up to `last`. */
  #isLongVarint(last: number): boolean {
    for (let at = this.#at; at < last; at++) if (this.#bytes[at]! < 0x80) return false;
    return true;
  }

  /** Unsigned. With `flip` 0x7f, for a varint of ten bytes: the complement of its lower 63 bits. */
  #varint(flip = 0): number {
    let value = 0;
    let unit = 1;
    for (let length = 1; length <= MAX_VARINT; length++) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw new MalformedMessage('end');
      if (length === MAX_VARINT && byte > 1) break;
      const isSign = flip !== 0 && length === MAX_VARINT;
      if (!isSign) value += ((byte & 0x7f) ^ flip) * unit;
      if (byte < 0x80) return value;
      unit *= 0x80;
    }
    throw new MalformedMessage('varint');
  }

  #spend(values: number): void {
    this.#budget.left -= values;
    if (this.#budget.left < 0) throw new MalformedMessage('number of values');
  }
}
