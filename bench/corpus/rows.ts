import { isUtf8 } from 'node:buffer';
import { seededRandom, shuffle } from '../../training/random.ts';

/** Returns the text of the next row. */
export type Rows = () => string;

const POOL_ROWS = 4096;
/** Digits and a space before every even row, to make it unique. */
const NUMBER_WIDTH = 10;

/** Random texts of any length; a number at the end makes each row unique. */
export function mixedRows(texts: readonly string[], seed: number): Rows {
  const next = seededRandom(seed);
  let row = 0;
  return () => `${texts[Math.floor(next() * texts.length)]!} ${++row}`;
}

/** Rows of exactly `bytes` (at least 20) bytes in UTF-8: a number and random texts joined. */
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
  // Full stops replace a truncated character.
  while (!isUtf8(cut.subarray(0, end))) end--;
  return cut.toString('utf8', 0, end) + '.'.repeat(bytes - end);
}
