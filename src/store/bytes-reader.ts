import { WIDE } from './bytes-writer.ts';

/** Reads what a BytesWriter wrote. Throws RangeError beyond the end of the bytes. */
export class BytesReader {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, start: number) {
    this.#bytes = bytes;
    this.#at = start;
  }

  get at(): number {
    return this.#at;
  }

  byte(): number {
    return this.#bytes.readUInt8(this.#step(1));
  }

  bits16(): number {
    return this.#bytes.readUInt16LE(this.#step(2));
  }

  bits48(): number {
    return this.#bytes.readUIntLE(this.#step(6), 6);
  }

  float(): number {
    return this.#bytes.readFloatLE(this.#step(4));
  }

  double(): number {
    return this.#bytes.readDoubleLE(this.#step(8));
  }

  number(): number {
    const first = this.byte();
    if (first === WIDE.double) return this.double();
    if (first === WIDE.two) return this.bits16();
    return first === WIDE.four ? this.#bytes.readUInt32LE(this.#step(4)) : first;
  }

  text(): string {
    const bytes = this.byte();
    const at = this.#step(bytes);
    return this.#bytes.toString('utf8', at, at + bytes);
  }

  #step(bytes: number): number {
    const at = this.#at;
    this.#at += bytes;
    if (this.#at > this.#bytes.length) throw new RangeError('beyond the end of the entry');
    return at;
  }
}
