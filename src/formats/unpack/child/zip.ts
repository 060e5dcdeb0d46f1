import type { OfficeKind } from './office.ts';
import type { Input, Unpacker } from './unpacker.ts';
import { readEntry, zipEntries } from './zip-file.ts';

/**
 * Unpacks the files of a ZIP archive, in the order of its directory, or, for an office document, its texts and the
 * files in it.
 */
export const unzip: Unpacker = async function* (input, budget) {
  const kind = await officeKind(input);
  if (kind !== null) {
    const { unpackOffice } = await import('./office.ts');
    yield* unpackOffice(input, kind, budget);
    return;
  }
  for await (const { name, bytes, left, problem, stream } of zipEntries(input)) {
    yield problem === null ? { name, bytes, left, stream } : { problem, name, bytes };
  }
};

/** Media types are short. */
const MAX_TYPE_BYTES = 256;

/**
 * Detects the kind of an office document by a file anywhere in it: the list of content types (ECMA-376 Part 2) or the
 * media type (OpenDocument 1.3 Part 2). Null for any other archive, such as a book (EPUB).
 */
async function officeKind(input: Input): Promise<OfficeKind | null> {
  for await (const entry of zipEntries(input)) {
    if (entry.name.toLowerCase() === '[content_types].xml') return 'ooxml';
    if (entry.name !== 'mimetype' || entry.problem !== null || entry.bytes > MAX_TYPE_BYTES) continue;
    const type = (await readEntry(entry)).toString('latin1');
    if (!type.startsWith('application/vnd.oasis.opendocument.')) continue;
    return type.includes('.spreadsheet') ? 'ods' : 'odf';
  }
  return null;
}
