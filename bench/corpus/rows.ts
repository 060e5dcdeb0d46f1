import { isUtf8 } from 'node:buffer';
import { seededRandom, shuffle } from '../../training/random.ts';

/** Gives the text of the next row. */
export type Rows = () => string;

const POOL_ROWS = 4096;
/** Digits, and the blank behind them, that make every row of the same length a different one. */
const NUMBER_WIDTH = 10;

/** Rows as the texts come, drawn at random; a number at the end makes each a different one. */
export function mixedRows(texts: readonly string[], seed: number): Rows {
  const next = seededRandom(seed);
  let row = 0;
  return () => `${texts[Math.floor(next() * texts.length)]!} ${++row}`;
}

/** Rows of exactly `bytes` bytes in UTF-8, at least 20: texts drawn at random and joined, with a number before them. */
export function evenRows(texts: readonly string[], bytes: number, seed: number): Rows {
  const next = seededRandom(seed);
  const shuffled = [...texts];
  shuffle(shuffled, next);
  const pool = Array.from({ length: POOL_ROWS }, (_, index) =>
    joinedTo(bytes - NUMBER_WIDTH, shuffled, index * 7),
  );
  let row = 0;
  return () => {
    const number = String(++row).padStart(NUMBER_WIDTH - 1, '0');
    return `${number} ${pool[Math.floor(next() * pool.length)]!}`;
  };
}

function joinedTo(bytes: number, texts: readonly string[], from: number): string {
  let text = '';
  for (let index = from; Buffer.byteLength(text) < bytes; index++) text += `${texts[index % texts.length]!} `;
  const cut = Buffer.from(text).subarray(0, bytes);
  let end = bytes;
  // A character that was cut through goes, and full stops take its place.
  while (!isUtf8(cut.subarray(0, end))) end--;
  return cut.toString('utf8', 0, end) + '.'.repeat(bytes - end);
}
