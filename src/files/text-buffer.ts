/** Maximum UTF-8 bytes per UTF-16 code unit. */
const MAX_BYTES_OF_UNIT = 3;

/** Collects text as UTF-8. Each piece is encoded in place, which avoids joining many strings first. */
export class TextBuffer {
  #bytes: Buffer;
  #end = 0;

  /** `bytes`: initial capacity; the buffer grows on demand. */
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

  /** Returns the text that was added. The view is valid until `clear`, after which its bytes are overwritten. */
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
