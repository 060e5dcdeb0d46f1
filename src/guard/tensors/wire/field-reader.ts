/** What is read is not a protobuf message, or holds more values than are taken. */
export class MalformedMessage extends Error {
  override readonly name = 'MalformedMessage';
}

/** How many more fields and packed numbers one message may hold, over all messages embedded in it. */
export interface ValueBudget {
  left: number;
}

const VARINT = 0;
const FIXED64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED32 = 5;

/** Seven bits a byte, 64 bits. */
const MAX_VARINT = 10;

/** Longest name or id, in bytes. */
const MAX_TEXT = 1024 * 1024;

/**
 * Reads the fields of one protobuf message (https://protobuf.dev/programming-guides/encoding) where they lie, without
 * building anything: two bytes can stand for a whole embedded message, so a message of some megabytes could otherwise
 * become gigabytes of objects. Takes time linear in the bytes. Every method throws MalformedMessage for what is not
 * well formed, and once the budget is spent.
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

  /** Number of the field that `next` has come to. */
  get number(): number {
    return this.#number;
  }

  /** Goes to the next field, whose value one of the methods below must then read; false at the end. */
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

  /** Appends the values of a repeated int64 field, packed or one by one; beyond 2^53 they are approximate. */
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

  /** Two's complement of 64 bits: the complement is taken before anything can be rounded. */
  #signed(): number {
    const last = this.#at + MAX_VARINT - 1;
    const isNegative = this.#bytes[last] === 1 && this.#isLongVarint(last);
    return isNegative ? -1 - this.#varint(0x7f) : this.#varint();
  }

  /** Whether the varint here has its last byte at `last`. */
  #isLongVarint(last: number): boolean {
    for (let at = this.#at; at < last; at++) if (this.#bytes[at]! < 0x80) return false;
    return true;
  }

  /** Unsigned; with `flip` 0x7f, of a varint of ten bytes, the complement of its 63 lower bits. */
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
