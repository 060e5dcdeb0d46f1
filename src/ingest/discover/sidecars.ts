import pLimit from 'p-limit';
import { readFully } from '../../files/read-fully.ts';
import { binaryKind, mediaKindByName } from '../recognise/binary-kind.ts';
import { type FilePlace, openPlace } from '../sources/file-place.ts';
import { isWholePicture, TAIL_BYTES } from '../recognise/whole-picture.ts';

const HEAD_BYTES = 64 * 1024;
const LOOKS_AT_ONCE = 16;

interface File extends FilePlace {
  /** Below its corpus, with `/`. */
  readonly relative: string;
}

/** What is left of files when the texts that describe media are taken out, and which media they describe. */
interface Captioned<F extends File> {
  readonly files: F[];
  /** The text beside a media file, by that file's relative path. */
  readonly sidecars: ReadonlyMap<string, F>;
}

/**
 * Finds the texts that describe the image or the sound of the same name beside them: `photo.txt` of `photo.jpg`, among
 * the files or among those `beside` them. Only a file that is judged as media by its content, and is no broken picture
 * as far as its header and its end show, has such a text; beside any other, the text is an item like all texts.
 */
export async function takeSidecars<F extends File>(
  files: readonly F[],
  beside: readonly F[],
  signal: AbortSignal,
): Promise<Captioned<F>> {
  const texts = new Map<string, F>();
  for (const file of [...beside, ...files]) {
    if (!isSidecarName(file.relative)) continue;
    // Of `a.TXT` and `a.txt` it is always the same one, whichever of them was asked for.
    const other = texts.get(stem(file.relative));
    if (other === undefined || other.relative < file.relative) texts.set(stem(file.relative), file);
  }
  const candidates = files.filter(
    ({ relative }) => mediaKindByName(relative) !== null && texts.has(stem(relative)),
  );
  const limit = pLimit(LOOKS_AT_ONCE);
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

/** A path without its extension: what a text and the file that it describes have in common. */
export function stem(path: string): string {
  return path.replace(/\.[^./]*$/, '');
}

/** Whether a file is one that a text can describe. One that cannot be looked at is none: its own item says so. */
export async function isJudgedMedia(place: FilePlace): Promise<boolean> {
  try {
    const handle = await openPlace(place);
    try {
      const head = await readFully(handle, Buffer.allocUnsafe(HEAD_BYTES), 0);
      if (binaryKind(head, place.absolute, null)?.isJudged !== true) return false;
      const { size } = await handle.stat();
      if (size <= head.length) return isWholePicture(head, head, true);
      const tailBytes = Math.min(TAIL_BYTES, size);
      const tail = await readFully(handle, Buffer.allocUnsafe(tailBytes), size - tailBytes);
      return isWholePicture(head, tail, false);
    } finally {
      await handle.close();
    }
  } catch {
    return false;
  }
}
