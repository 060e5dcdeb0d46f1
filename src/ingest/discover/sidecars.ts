import pLimit from 'p-limit';
import { Failure } from '../../domain/failure.ts';
import { readFully } from '../../files/read-fully.ts';
import { binaryKind, mediaKindByName } from '../../formats/binary-kind.ts';
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
 * Finds the text files that describe an image or audio file of the same name, such as `photo.txt` for `photo.jpg`,
 * among `files` and `beside`. Only a file whose first bytes are those of an image or audio file has a sidecar. Next to
 * any other file, the text file is a separate item.
 */
export async function takeSidecars<F extends File>(
  files: readonly F[],
  beside: readonly F[],
  signal: AbortSignal,
): Promise<CaptionedFiles<F>> {
  const texts = new Map<string, F>();
  for (const file of [...beside, ...files]) {
    if (!isSidecarName(file.relative)) continue;
    // Always choose the same one of `a.TXT` and `a.txt`, whichever the user named.
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
        if (await isJudgedMedia(file, signal)) sidecars.set(file.relative, texts.get(stem(file.relative))!);
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

/**
 * Whether a file can have a sidecar, by its first bytes. False if it cannot be read: its own item reports the error.
 */
async function isJudgedMedia(place: FileLocation, signal: AbortSignal): Promise<boolean> {
  try {
    const handle = await openPlace(place, signal);
    try {
      const head = await readFully(handle, Buffer.allocUnsafe(HEAD_BYTES), 0);
      return binaryKind(head, place.absolute, null)?.isJudged === true;
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof Failure) throw error;
    return false;
  }
}
