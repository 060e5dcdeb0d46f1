import { type Entry, fromBufferPromise, fromFdPromise } from 'yauzl';
import type { Unpacker } from './unpacker.ts';

/** Names stay bytes: they are labels, never paths. */
const OPTIONS = { lazyEntries: true, decodeStrings: false } as const;

/** Bit of an entry's flags: its name is UTF-8 (APPNOTE.TXT, 4.4.4). */
const UTF8_NAME = 0x800;
/** Methods of compression that are read: stored and deflated (APPNOTE.TXT, 4.4.5). */
const METHODS: ReadonlySet<number> = new Set([0, 8]);

/** First entries of office documents (ECMA-376 Part 2; OpenDocument 1.3 Part 2). */
const OFFICE = /^(?:\[Content_Types\]\.xml|mimetype)$/;

/** The files of a ZIP archive, in the order of its directory. */
export const unzip: Unpacker = async function* (input) {
  const zip = await ('fd' in input
    ? fromFdPromise(input.fd, OPTIONS)
    : fromBufferPromise(input.bytes, OPTIONS));
  let left = zip.entryCount;
  for await (const entry of zip.eachEntry()) {
    left--;
    const name = nameOf(entry);
    if (left === zip.entryCount - 1 && OFFICE.test(name)) {
      yield { problem: 'office', name: '' };
      return;
    }
    const bytes = entry.uncompressedSize;
    // A folder; one with content is a file that a name hides.
    if (name.endsWith('/') && bytes === 0) continue;
    if (entry.isEncrypted()) yield { problem: 'encrypted', name, bytes };
    else if (!METHODS.has(entry.compressionMethod)) yield { problem: 'method', name, bytes };
    else yield { name, bytes, left, stream: () => zip.openReadStreamPromise(entry) };
  }
};

/** A name that is not UTF-8 is in the code page of some machine, and mostly ASCII. */
function nameOf({ fileNameRaw, generalPurposeBitFlag }: Entry): string {
  const isUtf8 = (generalPurposeBitFlag & UTF8_NAME) !== 0;
  return fileNameRaw.toString(isUtf8 ? 'utf8' : 'latin1').replaceAll('\\', '/');
}
