import { corrupt } from '../refusal.ts';
import type { Dib } from './read-dib.ts';

/** What the byte behind a zero means; a larger one counts pixels that follow as they are. */
const END_OF_ROW = 0;
const END_OF_PICTURE = 1;
const MOVE = 2;

/**
 * Unpacks the run-length encoding of a bitmap (BI_RLE8 and BI_RLE4 of the Windows API, and OS/2's for 24 bits) into
 * rows as they are stored without it: one byte per index or three per colour, each row padded to four bytes. Pixels that
 * are skipped are index 0 or black; what runs over the end of a row is dropped. Linear in the file and in the picture.
 * Throws a Refusal where the data ends before the picture does.
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
  /** Paints `count` pixels: pixel i is at `from + i * step` of the file, or the half-byte i of what stands there. */
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
    // nobody has to say that the last row ends
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
