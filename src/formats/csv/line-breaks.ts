import type { ByteWindow } from '../byte-window.ts';
import type { CsvDialect } from './csv-dialect.ts';

export const LF = 0x0a;
export const CR = 0x0d;

/** Finds the physical line breaks of a table, inside and outside quotes: LF, and CR too if CR ends its lines. */
export class LineBreaks {
  readonly #endsWithCr: boolean;

  constructor({ lineBreak }: CsvDialect) {
    this.#endsWithCr = lineBreak === '\r';
  }

  /** Index of the first line break in the bytes; -1 if there is none. */
  firstIn(bytes: Buffer): number {
    if (!this.#endsWithCr) return bytes.indexOf(LF);
    return bytes.findIndex((byte) => byte === LF || byte === CR);
  }

  /** Whether the last byte is a line break. */
  isAtEndOf(bytes: Buffer): boolean {
    const last = bytes.at(-1);
    return last === LF || (last === CR && this.#endsWithCr);
  }

  /** Offset of the first line break at or after `from` and before `to`; -1 if there is none. */
  find(window: ByteWindow, from: number, to: number): number {
    const lf = window.indexOf(LF, from, to);
    const cr = this.#endsWithCr ? window.indexOf(CR, from, lf < 0 ? to : lf) : -1;
    return cr < 0 ? lf : cr;
  }
}
