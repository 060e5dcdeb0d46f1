import type { FileHandle } from 'node:fs/promises';
import { DEFAULT_LIMITS } from '../../config/run-config.ts';
import { Failure } from '../../domain/failure.ts';
import { itemError, type ItemCode, type ItemError } from '../../domain/item-error.ts';
import { NotRegularFileError, openFile } from '../../files/open-file.ts';
import { readFully } from '../../files/read-fully.ts';
import { examineHead } from '../../ingest/recognise/examine.ts';
import type { Normalizer } from '../../normalize/normalizer.ts';

/** What a media file becomes, or why it becomes nothing. */
export interface NormalForm {
  readonly extension: 'png' | 'wav' | 'error';
  /** Of the file to write; for an error its code. */
  readonly bytes: Buffer;
  /** Null when there is a normal form. */
  readonly code: ItemCode | null;
}

const HEAD_BYTES = 256 * 1024;

/** How a media file is read that is named on its own, rather than found in a corpus. */
const ANY_FILE = {
  path: '',
  given: '',
  textColumns: null,
  idColumn: null,
  audit: 'final',
  asStream: null,
  encoding: null,
  layout: null,
  header: null,
} as const;

/** Opens a file that was named; Failure('usage') when it is none that can be read. */
export async function openOrdinary(path: string | Buffer, shown: string): Promise<FileHandle> {
  try {
    return await openFile(path, 'follow');
  } catch (cause) {
    if (cause instanceof NotRegularFileError)
      throw new Failure('usage', `${JSON.stringify(shown)} is not a file`, { cause });
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'error';
    throw new Failure('usage', `cannot read ${JSON.stringify(shown)} (${code})`, { cause });
  }
}

/**
 * The normal form of a media file as a guard would get it: PNG of its first frame, or WAV of its first window.
 * Failure('usage') when it cannot be opened; rejects on abort.
 */
export async function normalForm(
  path: string | Buffer,
  shown: string,
  normalizer: Normalizer,
  signal: AbortSignal,
): Promise<NormalForm> {
  signal.throwIfAborted();
  const file = await openOrdinary(path, shown);
  try {
    const found = await normalized(file, shown, normalizer, signal);
    if (!('code' in found)) return { ...found, code: null };
    return { extension: 'error', bytes: Buffer.from(`${found.code}\n`), code: found.code };
  } finally {
    await file.close();
  }
}

async function normalized(
  file: FileHandle,
  name: string,
  normalizer: Normalizer,
  signal: AbortSignal,
): Promise<{ readonly extension: 'png' | 'wav'; readonly bytes: Buffer } | ItemError> {
  const { size } = await file.stat();
  const head = await readFully(file, Buffer.alloc(Math.min(size, HEAD_BYTES)), 0);
  const examined = examineHead(
    {
      raw: head,
      text: head,
      isComplete: size <= HEAD_BYTES,
      isCompressed: false,
      textStart: null,
      encoding: null,
    },
    name,
    ANY_FILE,
  );
  if (examined.kind === 'refused' && examined.why !== 'encoding') return examined.error;
  if (head.length === 0) return itemError('EMPTY_CONTENT', 'the file is empty');
  if (examined.kind !== 'media') return itemError('UNSUPPORTED_TYPE', 'the file is neither image nor audio');
  const { mediaBytes } = DEFAULT_LIMITS;
  if (size > mediaBytes) {
    return itemError('ITEM_TOO_LARGE', `the file has ${size} bytes of at most ${mediaBytes}`);
  }
  return examined.modality === 'image'
    ? firstFrame(await readFully(file, Buffer.alloc(size), 0), normalizer, signal)
    : firstWindow(file, normalizer, signal);
}

async function firstFrame(
  bytes: Buffer,
  normalizer: Normalizer,
  signal: AbortSignal,
): Promise<{ readonly extension: 'png'; readonly bytes: Buffer } | ItemError> {
  const normal = await normalizer.image(bytes, { frames: 1, onlyPng: true, signal });
  return 'code' in normal ? normal : { extension: 'png', bytes: normal.frames[0]!.bytes };
}

async function firstWindow(
  file: FileHandle,
  normalizer: Normalizer,
  signal: AbortSignal,
): Promise<{ readonly extension: 'wav'; readonly bytes: Buffer } | ItemError> {
  const windows: Buffer[] = [];
  const heard = await normalizer.audio(file, {
    long: 'truncate',
    signal,
    each: async ({ wav }) => void windows.push(wav),
  });
  return 'code' in heard ? heard : { extension: 'wav', bytes: windows[0]! };
}
