import { MAX_VALUES } from './infer-messages.ts';

/** The fields of a message that hold messages, by number; a number: min bytes of an element of a packed field. */
interface MessageFields {
  readonly [field: number]: MessageFields | number;
}

const PARAMETERS: MessageFields = { 2: {} };
const CONTENTS: MessageFields = { 1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 6: 4, 7: 8 };
const TENSOR: MessageFields = { 3: 1, 4: PARAMETERS, 5: CONTENTS };
export const REQUEST_FIELDS: MessageFields = { 4: PARAMETERS, 5: TENSOR, 6: { 2: PARAMETERS } };
export const RESPONSE_FIELDS: MessageFields = { 4: PARAMETERS, 5: TENSOR };
export const STREAM_RESPONSE_FIELDS: MessageFields = { 2: RESPONSE_FIELDS };

const VARINT = 0;
const FIXED64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED32 = 5;
/** Max bytes of a varint: 64 bits, 7 per byte. */
const MAX_VARINT = 10;

/**
 * Whether a protobuf message (https://protobuf.dev/programming-guides/encoding) is well framed and holds at most
 * MAX_VALUES fields and numbers. Trap: two bytes can encode a whole message inside it, from which a decoder makes an
 * object of hundreds of bytes. Linear in the number of fields; a value takes a byte at least, so most messages are too
 * short to be examined.
 */
export function hasFewValues(message: Buffer, fields: MessageFields): boolean {
  return message.length <= MAX_VALUES || new ValueCount(message).add(0, message.length, fields);
}

class ValueCount {
  readonly #message: Buffer;
  #left = MAX_VALUES;
  #at = 0;

  constructor(message: Buffer) {
    this.#message = message;
  }

  /** Counts the values of a part of the message. False for too many, or when it is not well framed. */
  add(from: number, to: number, fields: MessageFields): boolean {
    this.#at = from;
    while (this.#at < to) {
      if (this.#left-- === 0) return false;
      const tag = this.#varint();
      switch (tag % 8) {
        case VARINT:
          this.#varint();
          break;
        case FIXED64:
          this.#at += 8;
          break;
        case FIXED32:
          this.#at += 4;
          break;
        case LENGTH_DELIMITED: {
          const length = this.#varint();
          const end = this.#at + length;
          const inner = fields[Math.floor(tag / 8)];
          if (end > to) return false;
          if (typeof inner === 'number') this.#left -= length / inner;
          else if (inner !== undefined && !this.add(this.#at, end, inner)) return false;
          this.#at = end;
          break;
        }
        default:
          return false;
      }
    }
    return this.#at === to && this.#left >= 0;
  }

  /** A number beyond the message where it ends before the varint does, or where the varint is too long. */
  #varint(): number {
    let value = 0;
    let unit = 1;
    for (let length = 0; length < MAX_VARINT; length++) {
      const byte = this.#message[this.#at++];
      if (byte === undefined) break;
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) return value;
      unit *= 0x80;
    }
    this.#at = Number.POSITIVE_INFINITY;
    return Number.POSITIVE_INFINITY;
  }
}
