import { beginsWith } from '../../domain/magic-bytes.ts';

/** Within so many bytes of its end a picture has its end mark: programs append things. */
export const TAIL_BYTES = 64 * 1024;

/**
 * Whether a JPEG or PNG is one from its header to its end mark, by its first and its last bytes; true for other kinds,
 * whose structure says less. Data that is damaged in between only a decoder sees. `isAll`: the head is the whole file.
 */
export function isWholePicture(head: Buffer, tail: Buffer, isAll: boolean): boolean {
  if (beginsWith(head, 'jpeg')) return hasJpegFrame(head, isAll) && tail.includes(END_OF_IMAGE);
  if (beginsWith(head, 'png')) return hasPngHeader(head) && tail.includes('IEND');
  return true;
}

const END_OF_IMAGE = Buffer.of(0xff, 0xd9);
const START_OF_SCAN = 0xda;

/** Whether segments follow one another up to the first scan, a frame header among them (ITU-T T.81, B.1). */
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
    // SOF0 … SOF15, but for the tables DHT, JPG and DAC that are numbered among them
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) hasFrame = true;
    const bytes = head.readUInt16BE(at + 2);
    if (bytes < 2) return false;
    at += 2 + bytes;
  }
  return !isAll;
}

/** Whether the first chunk is a header that gives a size (ISO/IEC 15948, 11.2.2). */
function hasPngHeader(head: Buffer): boolean {
  if (head.length < 33 || head.toString('latin1', 12, 16) !== 'IHDR') return false;
  return head.readUInt32BE(8) === 13 && head.readUInt32BE(16) > 0 && head.readUInt32BE(20) > 0;
}
