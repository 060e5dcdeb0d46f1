import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { damaged, ParquetProblem, unsupported } from '../parquet-problem.ts';
import { CopyOutput, notDecompressed } from './copy-output.ts';
import { zstd } from './zstd.ts';

/**
 * Decompresses a part of a page whose header states its size. Takes time linear in the bytes and the size. Throws
 * ParquetProblem if it does not decompress to exactly `size` bytes.
 */
export function decompress(bytes: Buffer, codec: string, size: number): Buffer {
  const output = expanded(bytes, codec, size);
  if (output.length !== size) throw damaged('a page has another size than its header says');
  return output;
}

function expanded(bytes: Buffer, codec: string, size: number): Buffer {
  if (codec === 'UNCOMPRESSED') return bytes;
  if (size === 0) return Buffer.alloc(0);
  try {
    switch (codec) {
      case 'SNAPPY':
        return snappy(bytes, size);
      case 'GZIP':
        return gunzipSync(bytes, { maxOutputLength: size });
      case 'BROTLI':
        return brotliDecompressSync(bytes, { maxOutputLength: size });
      case 'ZSTD':
        return zstd(bytes, size);
      case 'LZ4_RAW':
        return lz4(bytes, size);
      default:
        break;
    }
  } catch (error) {
    throw error instanceof ParquetProblem ? error : notDecompressed(error);
  }
  throw unsupported('uses an unknown compression');
}

/** Raw Snappy (format_description.txt of Snappy). */
function snappy(input: Buffer, size: number): Buffer {
  const output = new CopyOutput(size);
  let at = 0;
  while (at < 5 && input[at++]! >= 0x80);
  while (at < input.length) {
    const tag = input[at++]!;
    const kind = tag & 3;
    if (kind === 0) {
      let length = tag >> 2;
      if (length >= 60) {
        const bytes = length - 59;
        length = input.readUIntLE(at, bytes);
        at += bytes;
      }
      output.literal(input, at, length + 1);
      at += length + 1;
    } else if (kind === 1) {
      output.repeat(((tag >> 5) << 8) | input.readUInt8(at++), ((tag >> 2) & 7) + 4);
    } else {
      const bytes = kind === 2 ? 2 : 4;
      output.repeat(input.readUIntLE(at, bytes), (tag >> 2) + 1);
      at += bytes;
    }
  }
  return output.end();
}

/** One LZ4 block (lz4_Block_format.md). */
function lz4(input: Buffer, size: number): Buffer {
  const output = new CopyOutput(size);
  let at = 0;
  const more = (length: number): number => {
    if (length < 15) return length;
    for (let byte = 255; byte === 255; length += byte) byte = input.readUInt8(at++);
    return length;
  };
  while (at < input.length) {
    const token = input[at++]!;
    const literals = more(token >> 4);
    output.literal(input, at, literals);
    at += literals;
    if (at === input.length) break;
    const distance = input.readUInt16LE(at);
    at += 2;
    output.repeat(distance, more(token & 15) + 4);
  }
  return output.end();
}
