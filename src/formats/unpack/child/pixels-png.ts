import { constants, crc32, deflateSync } from 'node:zlib';

/** Pixels in rows, as decoded by pdf.js. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  /** ImageKind of pdf.js. */
  readonly kind: number;
  readonly data: Uint8Array | Uint8ClampedArray;
}

/** ImageKind of one-bit pixels. */
export const BLACK_AND_WHITE = 1;

/**
 * Bits per pixel, and PNG depth and colour type, by pdf.js's ImageKind: black and white, RGB, RGB with transparency.
 */
const FORMS: ReadonlyMap<number, readonly [bits: number, depth: number, colourType: number]> = new Map([
  [BLACK_AND_WHITE, [1, 1, 0]],
  [2, [24, 8, 2]],
  [3, [32, 8, 6]],
]);

/** Encodes pixels as PNG. Null if their kind or size is unknown. */
export function encodePixels({ width, height, kind, data }: Pixels): Buffer | null {
  const form = FORMS.get(kind);
  if (form === undefined) return null;
  const [bits, depth, colourType] = form;
  const rowBytes = Math.ceil((width * bits) / 8);
  if (!(rowBytes > 0 && height > 0) || data.length < rowBytes * height) return null;
  const rows = Buffer.alloc((rowBytes + 1) * height);
  for (let row = 0; row < height; row++) {
    rows.set(data.subarray(row * rowBytes, (row + 1) * rowBytes), row * (rowBytes + 1) + 1);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([depth, colourType], 8);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows, { level: constants.Z_BEST_SPEED })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}
