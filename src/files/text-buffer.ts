/** UTF-8 takes at most so many bytes for a UTF-16 code unit. */
const MAX_BYTES_OF_UNIT = 3;

/** Gathers text in UTF-8: each piece is encoded where it is to stand, which spares joining many before. */
export class TextBuffer {
  #bytes: Buffer;
  #end = 0;

  /** `bytes`: how much is expected; it grows when more comes. */
  constructor(bytes: number) {
    this.#bytes = Buffer.allocUnsafeSlow(Math.max(bytes, 1));
  }

  get length(): number {
    return this.#end;
  }

  add(content: string | Buffer): void {
    if (typeof content === 'string') {
      this.#makeRoom(content.length * MAX_BYTES_OF_UNIT);
      this.#end += this.#bytes.write(content, this.#end);
      return;
    }
    this.#makeRoom(content.length);
    this.#end += content.copy(this.#bytes, this.#end);
  }

  /** What was added. It is valid until `clear`, after which the bytes are written over. */
  take(): Buffer {
    return this.#bytes.subarray(0, this.#end);
  }

  clear(): void {
    this.#end = 0;
  }

  #makeRoom(bytes: number): void {
    const needed = this.#end + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#end);
    this.#bytes = larger;
  }
}
