/**
 * A sliding buffer over a stream, addressed by offsets in the whole stream. Keeps pieces as received, so a long record
 * is not copied again with every piece. Looking up an offset takes logarithmic time.
 */
export class ByteWindow {
  #pieces: Buffer[] = [];
  /** Offset of each piece's first byte. */
  #starts: number[] = [];
  #start: number;
  #end: number;

  /** Creates an empty window at an offset of the stream. */
  constructor(offset = 0) {
    this.#start = this.#end = offset;
  }

  /** Offset of the first buffered byte. */
  get start(): number {
    return this.#start;
  }

  /** Offset after the last buffered byte. */
  get end(): number {
    return this.#end;
  }

  append(piece: Buffer): void {
    if (piece.length === 0) return;
    if (this.#pieces.length === 0) this.#start = this.#end;
    this.#pieces.push(piece);
    this.#starts.push(this.#end);
    this.#end += piece.length;
  }

  /** Discards everything before `offset`. */
  dropBefore(offset: number): void {
    if (offset <= this.#start) return;
    let dropped = 0;
    while (dropped < this.#pieces.length && this.#starts[dropped]! + this.#pieces[dropped]!.length <= offset)
      dropped++;
    if (dropped > 0) {
      this.#pieces.splice(0, dropped);
      this.#starts.splice(0, dropped);
    }
    this.#start = Math.min(offset, this.#end);
    if (this.#pieces.length > 0 && this.#starts[0]! < offset) {
      this.#pieces[0] = this.#pieces[0]!.subarray(offset - this.#starts[0]!);
      this.#starts[0] = offset;
    }
  }

  /** Returns the bytes from `offset`, which must be buffered, to the end of their piece: at least one, not copied. */
  pieceFrom(offset: number): Buffer {
    const index = this.#indexOf(offset);
    return this.#pieces[index]!.subarray(offset - this.#starts[index]!);
  }

  /** Returns the bytes from `from` up to `to`, which must be buffered; copied only if they span several pieces. */
  slice(from: number, to: number): Buffer {
    if (from >= to) return Buffer.alloc(0);
    const parts: Buffer[] = [];
    for (let at = from; at < to;) {
      const piece = this.pieceFrom(at);
      parts.push(piece.length > to - at ? piece.subarray(0, to - at) : piece);
      at += piece.length;
    }
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  }

  /** Offset of the first `byte` at or after `from` and before `to`; -1 if there is none in the buffer. */
  indexOf(byte: number, from: number, to: number = this.#end): number {
    for (let at = Math.max(from, this.#start); at < to;) {
      const piece = this.pieceFrom(at);
      const found = piece.indexOf(byte);
      if (found >= 0) return at + found < to ? at + found : -1;
      at += piece.length;
    }
    return -1;
  }

  /** Index of the piece that contains an offset. */
  #indexOf(offset: number): number {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
