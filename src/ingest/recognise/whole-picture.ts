import { beginsWith } from '../../domain/magic-bytes.ts';

/** The end marker must be within this distance of the end of the file: programs may append data. */
export const TAIL_BYTES = 64 * 1024;

/**
 * Whether a JPEG or PNG has an intact header and an end marker, by its first and last bytes. True for other kinds, whose
 * structure is not checked. Only a decoder detects damage in between. `isAll`: the head is the whole file.
 */
export function isWholePicture(head: Buffer, tail: Buffer, isAll: boolean): boolean {
  if (beginsWith(head, 'jpeg')) return hasJpegFrame(head, isAll) && tail.includes(END_OF_IMAGE);
  if (beginsWith(head, 'png')) return hasPngHeader(head) && tail.includes('IEND');
  return true;
}

const END_OF_IMAGE = Buffer.of(0xff, 0xd9);
const START_OF_SCAN = 0xda;

/** Whether there is a valid sequence of segments up to the first scan, with a frame header (ITU-T T.81, B.1). */
function hasJpegFrame(head: Buffer, isAll: boolean): boolean {
  let hasFrame = false;
  for (let at = 2; at + 4 <= head.length;) {
    if (head[at] !== 0xff) return false;
    const marker = head[at + 1]!;
    if (marker === 0xff) {
      at++; // a fill byte
      continue;
    }
    if (marker === START_OF_SCAN) return hasFrame;
    // SOF0 … SOF15, without DHT, JPG and DAC, which are in the same range
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) hasFrame = true;
    const bytes = head.readUInt16BE(at + 2);
    if (bytes < 2) return false;
    at += 2 + bytes;
  }
  return !isAll;
}

/** Whether the first chunk is an IHDR with a nonzero width and height (ISO/IEC 15948, 11.2.2). */
function hasPngHeader(head: Buffer): boolean {
  if (head.length < 33 || head.toString('latin1', 12, 16) !== 'IHDR') return false;
  return head.readUInt32BE(8) === 13 && head.readUInt32BE(16) > 0 && head.readUInt32BE(20) > 0;
}
