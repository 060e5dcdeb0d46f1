import { crc32 } from 'node:zlib';

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

/** One chunk of a PNG file, with its checksum. */
export function pngChunk(type: string, data: Uint8Array): Buffer {
  const chunk = Buffer.alloc(data.length + 12);
  chunk.writeUInt32BE(data.length, 0);
  chunk.write(type, 4, 'latin1');
  chunk.set(data, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + data.length)), 8 + data.length);
  return chunk;
}

export interface PngHeader {
  readonly width: number;
  readonly height: number;
  readonly depth: number;
  readonly colourType: number;
}

/** A PNG file with any header over any data. */
export function pngFile({ width, height, depth, colourType }: PngHeader, data: Uint8Array): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([depth, colourType], 8);
  return Buffer.concat([
    SIGNATURE,
    pngChunk('IHDR', header),
    pngChunk('IDAT', data),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A copy of a damaged PNG file in which the checksums of all whole chunks are right; other files as they are. */
export function withTrueChecksums(bytes: Buffer): Buffer {
  if (!bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE)) return bytes;
  const copy = Buffer.from(bytes);
  for (let at = SIGNATURE.length; at + 12 <= copy.length;) {
    const dataEnd = at + 8 + copy.readUInt32BE(at);
    if (dataEnd + 4 > copy.length) break;
    copy.writeUInt32BE(crc32(copy.subarray(at + 4, dataEnd)), dataEnd);
    at = dataEnd + 4;
  }
  return copy;
}
