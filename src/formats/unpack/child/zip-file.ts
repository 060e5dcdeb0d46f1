import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type Entry, fromBufferPromise, fromFdPromise } from 'yauzl';
import type { Why } from '../messages.ts';
import type { Input } from './unpacker.ts';

/** A file in a ZIP archive. */
export interface ZipEntry {
  readonly name: string;
  /** Size according to the archive's directory; reading fails if it differs. */
  readonly bytes: number;
  /** Why it cannot be read; null if it can. */
  readonly problem: Why | null;
  /** Number of files that follow. */
  readonly left: number;
  readonly stream: () => Promise<Readable>;
}

/** Names stay bytes, because they are labels and never paths. */
const OPTIONS = { lazyEntries: true, decodeStrings: false } as const;

/** Flag bit of an entry whose name is UTF-8 (APPNOTE.TXT, 4.4.4). */
const UTF8_NAME = 0x800;
/** Supported compression methods: stored and deflated (APPNOTE.TXT, 4.4.5). */
const METHODS: ReadonlySet<number> = new Set([0, 8]);

/**
 * Lists the files of a ZIP archive, in the order of its directory. Throws the errors of its library if the archive is
 * damaged.
 */
export async function* zipEntries(input: Input): AsyncGenerator<ZipEntry, void> {
  const zip = await ('fd' in input
    ? fromFdPromise(input.fd, OPTIONS)
    : fromBufferPromise(input.bytes, OPTIONS));
  let left = zip.entryCount;
  for await (const entry of zip.eachEntry()) {
    left--;
    const name = nameOf(entry);
    const bytes = entry.uncompressedSize;
    // A folder. A folder with content is a file in disguise, so it is read.
    if (name.endsWith('/') && bytes === 0) continue;
    const isRead = METHODS.has(entry.compressionMethod);
    const problem = entry.isEncrypted() ? 'encrypted' : isRead ? null : 'method';
    yield { name, bytes, problem, left, stream: () => zip.openReadStreamPromise(entry) };
  }
}

/** The content of a small file in an archive. */
export async function readEntry({ stream }: ZipEntry): Promise<Buffer> {
  return buffer(await stream());
}

/** A name that is not UTF-8 is in the code page of some machine, and mostly ASCII. */
function nameOf({ fileNameRaw, generalPurposeBitFlag }: Entry): string {
  const isUtf8 = (generalPurposeBitFlag & UTF8_NAME) !== 0;
  return fileNameRaw.toString(isUtf8 ? 'utf8' : 'latin1').replaceAll('\\', '/');
}
