import type { FileHandle } from 'node:fs/promises';
import { DEFAULT_LIMITS } from '../config/run-config.ts';
import { itemError, type ItemError } from '../domain/item-error.ts';
import { openFile } from '../files/open-file.ts';
import { readFully } from '../files/read-fully.ts';
import { binaryKind } from '../formats/binary-kind.ts';
import type { Normalizer } from '../normalize/normalizer.ts';

const HEAD_BYTES = 256 * 1024;

/** The normal form of a media file, as a guard would receive it. */
type NormalForm = { readonly extension: 'png' | 'wav'; readonly bytes: Buffer };

/**
 * Normalizes a media file: PNG of its first frame, or WAV of its first window. Rejects with the system's error if it
 * cannot be opened, and on abort.
 */
export async function normalForm(
  path: string,
  normalizer: Normalizer,
  signal: AbortSignal,
): Promise<NormalForm | ItemError> {
  const file = await openFile(path, 'follow');
  try {
    const { size } = await file.stat();
    const { mediaBytes } = DEFAULT_LIMITS;
    if (size > mediaBytes) return itemError('ITEM_TOO_LARGE', `${size} bytes; the limit is ${mediaBytes}`);
    const head = await readFully(file, Buffer.alloc(Math.min(size, HEAD_BYTES)), 0);
    const kind = binaryKind(head, path, null);
    if (kind === null || !kind.isJudged) {
      return itemError('UNSUPPORTED_TYPE', `${kind?.name ?? 'text'}, expected an image or audio`);
    }
    return kind.modality === 'image'
      ? await firstFrame(await readFully(file, Buffer.alloc(size), 0), normalizer, signal)
      : await firstWindow(file, normalizer, signal);
  } finally {
    await file.close();
  }
}

async function firstFrame(
  bytes: Buffer,
  normalizer: Normalizer,
  signal: AbortSignal,
): Promise<NormalForm | ItemError> {
  const image = await normalizer.image(bytes, { frames: 1, onlyPng: true, signal });
  return 'code' in image ? image : { extension: 'png', bytes: image.frames[0]!.bytes };
}

async function firstWindow(
  file: FileHandle,
  normalizer: Normalizer,
  signal: AbortSignal,
): Promise<NormalForm | ItemError> {
  const windows: Buffer[] = [];
  const each = async ({ wav }: { readonly wav: Buffer }): Promise<void> => void windows.push(wav);
  const audio = await normalizer.audio(file, { long: 'truncate', signal, each });
  return 'code' in audio ? audio : { extension: 'wav', bytes: windows[0]! };
}
