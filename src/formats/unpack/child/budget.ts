import type { UnpackLimits } from '../messages.ts';

/** A file may expand to this size whatever its ratio: a few bytes hold a long text of one letter. */
const FREE_BYTES = 16 * 1024 * 1024;

/** What a file may still expand to. */
export class Budget {
  #parts: number;
  #bytes: number;

  constructor({ parts, bytes, ratio }: Pick<UnpackLimits, 'parts' | 'bytes' | 'ratio'>, fileBytes: number) {
    this.#parts = parts;
    this.#bytes = Math.min(bytes, Math.max(FREE_BYTES, fileBytes * ratio));
  }

  /** Bytes that are left. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Counts a part. Whether there is room for it. */
  takePart(): boolean {
    return this.#parts-- > 0;
  }

  /** Counts unpacked bytes. Throws TooLarge when there is no room for them. */
  takeBytes(bytes: number): void {
    this.#bytes -= bytes;
    if (this.#bytes < 0) throw new TooLarge();
  }
}

/** The file expands to more than it may. */
export class TooLarge extends Error {}

/** A part is larger than one may be. */
export class PartTooLarge extends Error {
  /** How many it has at least. */
  readonly bytes: number;

  constructor(bytes: number) {
    super();
    this.bytes = bytes;
  }
}
