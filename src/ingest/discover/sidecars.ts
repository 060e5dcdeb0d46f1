import pLimit from 'p-limit';
import { hasMagicBytes } from '../../domain/magic-bytes.ts';
import { readFully } from '../../files/read-fully.ts';
import { binaryKind, mediaKindByName } from '../recognise/binary-kind.ts';
import { type FileLocation, openPlace } from '../sources/file-place.ts';

const HEAD_BYTES = 64 * 1024;
const MAX_CONCURRENT_CHECKS = 16;

interface File extends FileLocation {
  /** Below its corpus, with `/`. */
  readonly relative: string;
}

/** Files without the sidecars among them, and the sidecars. */
interface CaptionedFiles<F extends File> {
  readonly files: F[];
  /** Relative path of a media file to the text file that describes it. */
  readonly sidecars: ReadonlyMap<string, F>;
}

/**
 * Finds the text files that describe an image or audio file of the same name, such as `photo.txt` for `photo.jpg`, among
 * `files` and `beside`. Only a file whose content is judged as media has a sidecar, and an image only if its header and
 * end are intact. Next to any other file, the text file is an item of its own.
 */
export async function takeSidecars<F extends File>(
  files: readonly F[],
  beside: readonly F[],
  signal: AbortSignal,
): Promise<CaptionedFiles<F>> {
  const texts = new Map<string, F>();
  for (const file of [...beside, ...files]) {
    if (!isSidecarName(file.relative)) continue;
    // Always choose the same one of `a.TXT` and `a.txt`, whichever of them the user named.
    const other = texts.get(stem(file.relative));
    if (other === undefined || other.relative < file.relative) texts.set(stem(file.relative), file);
  }
  const candidates = files.filter(
    ({ relative }) => mediaKindByName(relative) !== null && texts.has(stem(relative)),
  );
  const limit = pLimit(MAX_CONCURRENT_CHECKS);
  const sidecars = new Map<string, F>();
  await Promise.all(
    candidates.map((file) =>
      limit(async () => {
        signal.throwIfAborted();
        if (await isJudgedMedia(file)) sidecars.set(file.relative, texts.get(stem(file.relative))!);
      }),
    ),
  );
  const taken = new Set(sidecars.values());
  return { files: files.filter((file) => !taken.has(file)), sidecars };
}

/** Whether a file may describe others, by its name. */
export function isSidecarName(path: string): boolean {
  return /\.txt$/i.test(path);
}

/** A path without its extension: the same for a sidecar and the file that it describes. */
export function stem(path: string): string {
  return path.replace(/\.[^./]*$/, '');
}

/** Whether a file can have a sidecar. False if it cannot be read: its own item reports the error. */
export async function isJudgedMedia(place: FileLocation): Promise<boolean> {
  try {
    const handle = await openPlace(place);
    try {
      const head = await readFully(handle, Buffer.allocUnsafe(HEAD_BYTES), 0);
      if (binaryKind(head, place.absolute, null)?.isJudged !== true) return false;
      const { size } = await handle.stat();
      if (size <= head.length) return isCompleteImage(head, head, true);
      const tailBytes = Math.min(TAIL_BYTES, size);
      const tail = await readFully(handle, Buffer.allocUnsafe(tailBytes), size - tailBytes);
      return isCompleteImage(head, tail, false);
    } finally {
      await handle.close();
    }
  } catch {
    return false;
  }
}

/** The end marker must be within this distance of the end of the file: programs may append data. */
export const TAIL_BYTES = 64 * 1024;

/**
 * Whether a JPEG or PNG has an intact header and an end marker, by its first and last bytes. True for other kinds, whose
 * structure is not checked. Only a decoder detects damage in between. `isAll`: the head is the whole file.
 */
export function isCompleteImage(head: Buffer, tail: Buffer, isAll: boolean): boolean {
  if (hasMagicBytes(head, 'jpeg')) return hasJpegFrame(head, isAll) && tail.includes(END_OF_IMAGE);
  if (hasMagicBytes(head, 'png')) return hasPngHeader(head) && tail.includes('IEND');
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
