import { tooLarge } from './parquet-problem.ts';

/** Any file may expand to this much, and beyond it to this multiple of its size, like the DEFLATE of a gzip file. */
const FREE_BYTES = 1024 * 1024 * 1024;
const MAX_FACTOR = 1000;

/** What a row costs besides its values: a page can repeat a row in no bytes at all. */
export const ROW_BYTES = 64;

/** Bounds the work for one file: bytes of decompressed pages, and of rows, which may share values of a dictionary. */
export class Expansion {
  #left: number;

  constructor(fileBytes: number) {
    this.#left = FREE_BYTES + fileBytes * MAX_FACTOR;
  }

  spend(bytes: number): void {
    this.#left -= bytes;
    if (this.#left >= 0) return;
    throw tooLarge(
      `the Parquet file expands to more than ${MAX_FACTOR} times its size; the rest is not read`,
    );
  }
}
