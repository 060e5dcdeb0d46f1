/**
 * The bytes of a stream that are still needed, addressed by their offset in the whole stream. Pieces are kept as they
 * came, so that a long record is not copied again with every piece.
 */
export class ByteWindow {
  #pieces: Buffer[] = [];
  #start = 0;
  #end = 0;

  /** Offset of the first byte held. */
  get start(): number {
    return this.#start;
  }

  /** Offset after the last byte held. */
  get end(): number {
    return this.#end;
  }

  append(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#pieces.push(piece);
    this.#end += piece.length;
  }

  /** Lets go of everything before `offset`. */
  dropBefore(offset: number): void {
    let dropped = 0;
    while (dropped < this.#pieces.length && this.#start + this.#pieces[dropped]!.length <= offset) {
      this.#start += this.#pieces[dropped]!.length;
      dropped++;
    }
    if (dropped > 0) this.#pieces.splice(0, dropped);
    if (this.#pieces.length > 0 && this.#start < offset) {
      this.#pieces[0] = this.#pieces[0]!.subarray(offset - this.#start);
      this.#start = offset;
    }
  }

  /** The bytes from `from` up to `to`, both within what is held; copied only when they lie in several pieces. */
  slice(from: number, to: number): Buffer {
    const parts: Buffer[] = [];
    let offset = this.#start;
    for (const piece of this.#pieces) {
      if (offset >= to) break;
      const end = offset + piece.length;
      if (from < end)
        parts.push(piece.subarray(Math.max(from - offset, 0), Math.min(to - offset, piece.length)));
      offset = end;
    }
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  }

  /** Offset of the first `byte` at or after `from`; -1 when none is held. */
  indexOf(byte: number, from: number): number {
    let offset = this.#start;
    for (const piece of this.#pieces) {
      const end = offset + piece.length;
      if (from < end) {
        const at = piece.indexOf(byte, Math.max(from - offset, 0));
        if (at >= 0) return offset + at;
      }
      offset = end;
    }
    return -1;
  }

  /** How often `byte` occurs from `from` up to `to`. */
  count(byte: number, from: number, to: number): number {
    let count = 0;
    for (let at = from; at < to; at++) {
      at = this.indexOf(byte, at);
      if (at < 0 || at >= to) break;
      count++;
    }
    return count;
  }

  /** The byte at `offset`; undefined outside what is held. */
  at(offset: number): number | undefined {
    let start = this.#start;
    for (const piece of this.#pieces) {
      if (offset < start + piece.length) return piece[offset - start];
      start += piece.length;
    }
    return undefined;
  }
}
