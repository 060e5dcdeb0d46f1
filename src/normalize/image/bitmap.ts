import type { ItemError } from '../../domain/item-error.ts';
import { DECODING_ERRORS, inputArguments, type Running, withFfmpeg } from '../ffmpeg-process.ts';
import { checkFrameMemory, checkFrameSize, corrupt } from './limits.ts';

/**
 * BMP files, which libvips does not support. ffmpeg, in a sandboxed process like the audio decoder, converts them to
 * uncompressed TIFF.
 */

interface BitmapSize {
  readonly width: number;
  readonly height: number;
}

/** Size of an OS/2 1.x header, the only kind with 16-bit dimensions. */
const OS2_HEADER_BYTES = 12;
const MIN_FILE_BYTES = 26;

/**
 * Reads the size from the header, so larger bitmaps are never decoded. Throws an ImageRefusal for a size over the
 * limits, and for a file that ends within the header.
 */
export function readBitmapSize(bytes: Buffer): BitmapSize {
  if (bytes.length < MIN_FILE_BYTES) throw corrupt();
  const isOs2 = bytes.readUInt32LE(14) === OS2_HEADER_BYTES;
  const size = isOs2
    ? { width: bytes.readUInt16LE(18), height: bytes.readUInt16LE(20) }
    : { width: bytes.readInt32LE(18), height: Math.abs(bytes.readInt32LE(22)) }; // negative: rows from the top
  checkFrameSize(size.width, size.height);
  checkFrameMemory(bitmapMemory(size));
  return size;
}

/**
 * Memory for converting a bitmap, in bytes. Per pixel: 4 as decoded, 3 as RGB and 3 as TIFF in ffmpeg, and the TIFF in
 * this process.
 */
export function bitmapMemory({ width, height }: BitmapSize): number {
  return width * height * 13;
}

const INPUT = { format: 'bmp_pipe', allowed: ['bmp_pipe'], isPipe: true, maxBlockBytes: 512 * 1024 * 1024 };

/** Tags and strip offsets of the TIFF. */
const MAX_TIFF_OVERHEAD = 1024 * 1024;

/**
 * Converts a BMP to TIFF, or returns why ffmpeg cannot: `CORRUPT_MEDIA` and the errors of a decoder process. `running`
 * starts ffmpeg with the file in a pipe. Throws on abort.
 */
export function convertBitmap({ width, height }: BitmapSize, running: Running): Promise<Buffer | ItemError> {
  const args = [
    ...['-nostdin', '-threads', '1', '-xerror'],
    ...inputArguments(INPUT),
    ...['-map', '0:v:0', '-frames:v', '1', '-pix_fmt', 'rgb24'],
    ...['-c:v', 'tiff', '-compression_algo', 'raw', '-f', 'image2pipe', 'pipe:1'],
  ];
  return withFfmpeg(running, 'ffmpeg', args, async ({ output, wait, end }) => {
    const tiff = Buffer.allocUnsafeSlow(width * height * 3 + MAX_TIFF_OVERHEAD);
    let length = 0;
    for (;;) {
      const next = await wait(output.next(), 0);
      if (next.done) break;
      if (length + next.value.length > tiff.length) return DECODING_ERRORS.corrupt;
      length += next.value.copy(tiff, length);
    }
    const { refusal } = await end(0);
    return refusal ?? (length === 0 ? DECODING_ERRORS.corrupt : tiff.subarray(0, length));
  });
}
