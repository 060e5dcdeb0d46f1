import { corrupt } from '../refusal.ts';
import type { Dib } from './read-dib.ts';

/** Meanings of the byte after a zero. A larger byte is the number of literal pixels that follow. */
const END_OF_ROW = 0;
const END_OF_PICTURE = 1;
const MOVE = 2;

/**
 * Unpacks the run-length encoding of a bitmap (BI_RLE8 and BI_RLE4 of the Windows API, and the 24-bit one of OS/2) into
 * uncompressed rows: one byte per index or three per colour, each row padded to four bytes. Skipped pixels are index 0 or
 * black; pixels past the end of a row are dropped. Linear in the file and in the picture. Throws a Refusal if the data
 * ends before the picture.
 */
export function unpackRle(bytes: Buffer, { width, height, storage, pixelsAt }: Dib): Uint8Array {
  const pixelBytes = storage === 'rle24' ? 3 : 1;
  const stride = Math.ceil((width * pixelBytes) / 4) * 4;
  const rows = new Uint8Array(stride * height);
  const isHalfBytes = storage === 'rle4';
  let at = pixelsAt;
  let [column, row] = [0, 0];

  const next = (): number => {
    if (at >= bytes.length) throw corrupt();
    return bytes[at++]!;
  };
  /** Paints `count` pixels from `from` on; with step 0, repeats the first colour (or pair of half-byte indexes). */
  const paint = (from: number, count: number, step: 0 | 1): void => {
    const fitting = Math.min(count, width - column);
    const rowAt = row * stride;
    for (let pixel = 0; pixel < fitting; pixel++, column++) {
      if (isHalfBytes) {
        const pair = bytes[from + step * (pixel >> 1)]!;
        rows[rowAt + column] = pixel % 2 === 0 ? pair >> 4 : pair & 15;
      } else {
        const source = from + step * pixel * pixelBytes;
        for (let part = 0; part < pixelBytes; part++) {
          rows[rowAt + column * pixelBytes + part] = bytes[source + part]!;
        }
      }
    }
  };

  while (row < height) {
    // the end of the last row need not be marked
    if (at >= bytes.length && row === height - 1 && column === width) break;
    const count = next();
    if (count > 0) {
      const from = at;
      at += pixelBytes;
      if (at > bytes.length) throw corrupt();
      paint(from, count, 0);
      continue;
    }
    const code = next();
    if (code === END_OF_PICTURE) return rows;
    if (code === END_OF_ROW) {
      column = 0;
      row++;
    } else if (code === MOVE) {
      column = Math.min(width, column + next());
      row += next();
    } else {
      const from = at;
      const dataBytes = isHalfBytes ? Math.ceil(code / 2) : code * pixelBytes;
      at += dataBytes + (dataBytes % 2); // padded to words
      if (from + dataBytes > bytes.length) throw corrupt();
      paint(from, code, 1);
    }
  }
  return rows;
}
