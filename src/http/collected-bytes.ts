/** Pieces of this size are kept as they are. */
const LARGE_PIECE = 4096;

/** Capacity of a block for smaller ones, in bytes: blocks grow with what there is already. */
const MIN_BLOCK = 1024;
const MAX_BLOCK = 64 * 1024;

/**
 * The bytes of a body that arrives in pieces, which must not change later. Small pieces are copied into blocks: kept as
 * buffers of their own, pieces of one byte would take 300 times their size.
 */
export class CollectedBytes {
  readonly #pieces: Buffer[] = [];
  /** Where small pieces go: those since the last large one, and free space. */
  #block = Buffer.alloc(0);
  #used = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(piece: Buffer): void {
    if (piece.length >= LARGE_PIECE) {
      this.#flush();
      this.#pieces.push(piece);
    } else this.#copy(piece);
    this.#length += piece.length;
  }

  /** All bytes in one piece. */
  joined(): Buffer {
    this.#flush();
    return this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces, this.#length);
  }

  #copy(piece: Buffer): void {
    const copied = piece.copy(this.#block, this.#used);
    this.#used += copied;
    if (copied === piece.length) return;
    this.#flush();
    this.#block = Buffer.allocUnsafe(Math.min(MAX_BLOCK, Math.max(MIN_BLOCK, piece.length, this.#length)));
    this.#used = piece.copy(this.#block, 0, copied);
  }

  #flush(): void {
    if (this.#used > 0) this.#pieces.push(this.#block.subarray(0, this.#used));
    this.#block = this.#block.subarray(this.#used);
    this.#used = 0;
  }
}
