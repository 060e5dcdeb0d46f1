import { HIDDEN } from './weights-file.ts';

/** Bytes per word. Table values are bytes; four are added at a time, as two pairs of 16-bit lanes in 32-bit words. */
const WORD_BYTES = 4;
const ROW_WORDS = HIDDEN / WORD_BYTES;

/** Words of a row added in one pass: the most that keep all lanes in registers. */
const PASS_WORDS = 4;

const LANES = 0x00ff00ff;
const LANE = 0xffff;

/** Added to each byte to make it non-negative, and subtracted from the sums. */
const BIAS = 128;
const BIAS_WORD = 0x80808080 | 0;

/** Rows after which lanes are flushed; 16 bits hold at most 257 times 255. */
const ROWS_PER_LANE = 256;

/** Sums rows of the network's table. Judging text spends most of its time here. Sums are exact in any order. */
export class RowSums {
  /** Sum per hidden unit of the rows last added. */
  readonly sums = new Int32Array(HIDDEN);
  readonly #words: Int32Array;

  /** Copies a table of rows of HIDDEN bytes. Needs a little-endian machine. */
  constructor(table: Int8Array) {
    this.#words = new Int32Array(new Int8Array(table).buffer);
    for (let at = 0; at < this.#words.length; at++) this.#words[at]! ^= BIAS_WORD;
  }

  /** Sums the rows with these indices. */
  add(rows: Int32Array): void {
    this.sums.fill(-BIAS * rows.length);
    for (let from = 0; from < rows.length; from += ROWS_PER_LANE) {
      const to = Math.min(rows.length, from + ROWS_PER_LANE);
      for (let word = 0; word < ROW_WORDS; word += PASS_WORDS) this.#addWords(rows, from, to, word);
    }
  }

  #addWords(rows: Int32Array, from: number, to: number, first: number): void {
    const words = this.#words;
    let [even0, odd0, even1, odd1, even2, odd2, even3, odd3] = [0, 0, 0, 0, 0, 0, 0, 0];
    for (let index = from; index < to; index++) {
      const at = rows[index]! * ROW_WORDS + first;
      const word0 = words[at]!;
      const word1 = words[at + 1]!;
      const word2 = words[at + 2]!;
      const word3 = words[at + 3]!;
      even0 = (even0 + (word0 & LANES)) | 0;
      odd0 = (odd0 + ((word0 >>> 8) & LANES)) | 0;
      even1 = (even1 + (word1 & LANES)) | 0;
      odd1 = (odd1 + ((word1 >>> 8) & LANES)) | 0;
      even2 = (even2 + (word2 & LANES)) | 0;
      odd2 = (odd2 + ((word2 >>> 8) & LANES)) | 0;
      even3 = (even3 + (word3 & LANES)) | 0;
      odd3 = (odd3 + ((word3 >>> 8) & LANES)) | 0;
    }
    const unit = first * WORD_BYTES;
    this.#flush(unit, even0, odd0);
    this.#flush(unit + WORD_BYTES, even1, odd1);
    this.#flush(unit + 2 * WORD_BYTES, even2, odd2);
    this.#flush(unit + 3 * WORD_BYTES, even3, odd3);
  }

  #flush(unit: number, even: number, odd: number): void {
    this.sums[unit]! += even & LANE;
    this.sums[unit + 1]! += odd & LANE;
    this.sums[unit + 2]! += even >>> 16;
    this.sums[unit + 3]! += odd >>> 16;
  }
}
