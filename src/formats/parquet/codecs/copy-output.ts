import { damaged } from '../parquet-problem.ts';

/** The output of a decompressor that copies from what it wrote before. Never grows beyond its size. */
export class CopyOutput {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafeSlow(size);
  }

  /** Appends `length` bytes of the input. */
  literal(input: Buffer, from: number, length: number): void {
    if (length > input.length - from || length > this.#room) throw notDecompressed();
    input.copy(this.#bytes, this.#at, from, from + length);
    this.#at += length;
  }

  /** Appends one byte `length` times. */
  fill(byte: number, length: number): void {
    if (length > this.#room) throw notDecompressed();
    this.#bytes.fill(byte, this.#at, (this.#at += length));
  }

  /** Repeats `length` bytes from `distance` bytes back, which may overlap what is appended. */
  repeat(distance: number, length: number): void {
    const bytes = this.#bytes;
    const from = this.#at - distance;
    if (distance < 1 || from < 0 || length > this.#room) throw notDecompressed();
    if (distance >= length && length > 16) bytes.copyWithin(this.#at, from, from + length);
    else for (let index = 0; index < length; index++) bytes[this.#at + index] = bytes[from + index]!;
    this.#at += length;
  }

  /** The bytes, which must be complete. */
  end(): Buffer {
    if (this.#room > 0) throw notDecompressed();
    return this.#bytes;
  }

  get #room(): number {
    return this.#bytes.length - this.#at;
  }
}

export function notDecompressed(cause?: unknown): Error {
  return damaged('a page does not decompress', cause);
}
