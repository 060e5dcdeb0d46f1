import { dirname, posix, relative, sep } from 'node:path';
import { isEncodedPath, encodePath } from '../../domain/file-path.ts';
import type { SourceConfig } from '../../config/run-config.ts';
import { itemError, type ItemError } from '../../domain/item-error.ts';
import {
  isFields,
  recordsOf,
  type Fields,
  type RecordBatch,
  type RecordReader,
  type SourceRecord,
} from '../../formats/record.ts';
import { listOtherTexts } from '../../formats/transcripts/columns.ts';
import { toText } from '../../formats/transcripts/values.ts';
import { readerFor } from './examine.ts';
import { matchesSnapshot } from '../sources/file-bytes.ts';
import { type FilePlace, placeOfDescription } from '../sources/file-place.ts';
import { encodingOf } from '../sources/named-file.ts';
import { OpenSource, type SourceHead } from '../sources/open-source.ts';
import type { FrozenSidecar, FrozenSource } from '../plan/plan-line.ts';
import { readRecords } from '../sources/read-records.ts';
import { recogniseLayout } from './recognise-layout.ts';

/** Names of a manifest, in the top folder of a corpus; the first that exists counts. */
export const MANIFEST_NAMES: readonly string[] = ['manifest.csv', 'manifest.jsonl'];

/** Max size of a manifest in bytes: it is kept in memory while its corpus is read. */
export const MAX_MANIFEST_BYTES = 64 * 1024 * 1024;
const MAX_ROW_BYTES = 1024 * 1024;
const MAX_ID_LENGTH = 512;

/** The entry of a file in a manifest. */
interface ManifestEntry {
  readonly id: string | null;
  readonly caption: string | null;
}

/** A file that a manifest may list. */
export interface ListedFile {
  /** Whether its caption is judged together with it. */
  readonly isDescribed: boolean;
}

/** A row that is an item. */
type ManifestRow =
  /** A row that matches no file of the corpus, and why. */
  | { readonly record: SourceRecord; readonly error: ItemError }
  /** A row with texts that are not judged together with its file. */
  | { readonly record: SourceRecord; readonly error: null; readonly texts: readonly string[] };

/** Returns the file at a path below the corpus when the run was created; null if there was none. */
type FileAt = (relative: string) => ListedFile | null;

/** A manifest: a table of the files of a corpus, with the columns path, id and caption. */
export class ManifestTable {
  readonly #entries = new Map<string, ManifestEntry>();
  /** In the order of the table. */
  readonly rows: ManifestRow[] = [];
  readonly #folder: string;

  /** `folder`: absolute path that the listed paths are relative to. */
  private constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Reads a manifest of the files that `fileAt` returns. Null if it changed after the run was created or can no longer be
   * read.
   */
  static async read(
    source: FrozenSidecar,
    config: SourceConfig,
    fileAt: FileAt,
    signal: AbortSignal,
  ): Promise<ManifestTable | null> {
    if (source.bytes > MAX_MANIFEST_BYTES) return null;
    const table = new ManifestTable(dirname(source.absolute));
    let file: OpenSource | null = null;
    try {
      file = await OpenSource.open(placeOfDescription(source), signal);
      const head = await file.head(encodingOf(config, false));
      const reader = readerOf(head, source.absolute);
      if (reader === null) return null;
      for await (const records of readRecords(file, head, reader)) table.#add(records, fileAt);
      return matchesSnapshot(file.statsNow, source) ? table : null;
    } catch {
      signal.throwIfAborted();
      return null;
    } finally {
      await file?.close();
    }
  }

  /** The entry of a file; null if the manifest does not list it. */
  entry({ absolute }: Pick<FrozenSource, 'absolute'>): ManifestEntry | null {
    return this.#entries.get(relative(this.#folder, absolute).replaceAll(sep, '/')) ?? null;
  }

  #add(records: RecordBatch, fileAt: FileAt): void {
    for (const record of records) {
      const error = this.#take(record, fileAt);
      if (error !== null) this.rows.push({ record, error });
    }
  }

  #take(record: SourceRecord, fileAt: FileAt): ItemError | null {
    if (record.error !== null) return record.error;
    if (!isFields(record.content)) return itemError('MALFORMED_ROW', 'the row of the manifest names no path');
    const path = toText(record.content.get('path'))?.trim();
    if (path === undefined || path === '') {
      if (record.isWrapper === true && listOtherTexts(record.content, []).length === 0) return null;
      return itemError('MALFORMED_ROW', 'the row of the manifest names no path');
    }
    const inside = insideCorpus(path);
    if (inside === null) {
      return itemError('UNREADABLE_SOURCE', 'the manifest names a path outside its corpus');
    }
    const listed = isEncodedPath(inside) ? inside : encodePath(inside);
    const file = fileAt(listed);
    if (file === null) {
      return itemError('UNREADABLE_SOURCE', 'the manifest names a file that is not in its corpus');
    }
    if (this.#entries.has(listed)) {
      return itemError('MALFORMED_ROW', 'the manifest names this file a second time');
    }
    const captionText = toText(record.content.get('caption')) ?? '';
    const caption = /\S/.test(captionText) ? captionText : null;
    const id = idOf(record.content);
    this.#entries.set(listed, { id, caption });
    // A value in these columns that is not a valid id or caption is still text to be judged.
    const taken = ['path', ...(id === null ? [] : ['id']), ...(caption === null ? [] : ['caption'])];
    const others = listOtherTexts(record.content, taken);
    const texts = caption === null || file.isDescribed ? others : [caption, ...others];
    if (texts.length > 0) this.rows.push({ record, error: null, texts });
    return null;
  }
}

/** Whether a file is a manifest, by its head: a table, or JSON records, with a path. */
export async function isManifest(
  place: FilePlace,
  config: SourceConfig,
  signal: AbortSignal,
): Promise<boolean> {
  let file: OpenSource | null = null;
  try {
    file = await OpenSource.open(place, signal);
    const head = await file.head(encodingOf(config, false));
    const reader = readerOf(head, place.absolute);
    const records = reader === null ? [] : recordsOf(reader, head.text, head.isComplete);
    return records.some(({ content }) => isFields(content) && content.get('path') !== undefined);
  } catch {
    signal.throwIfAborted();
    return false;
  } finally {
    await file?.close();
  }
}

/** A reader for the rows of a table or of JSON records; null for anything else. */
function readerOf(head: SourceHead, path: string): RecordReader | null {
  const layout = recogniseLayout(head.text, head.isComplete, path, { forced: null, isUtf16: false });
  return layout.kind === 'text' ? null : readerFor(layout, MAX_ROW_BYTES);
}

/** The normalized path below the corpus; null for a path outside it. A name may begin with an escape (`\xHH`). */
function insideCorpus(path: string): string | null {
  if (posix.isAbsolute(path) || /^[A-Za-z]:[\\/]|^\\(?!x[0-9a-f]{2})|\0/.test(path)) return null;
  const normal = posix.normalize(path).replace(/\/$/, '');
  return normal === '..' || normal.startsWith('../') || path.split('\\').includes('..') ? null : normal;
}

function idOf(fields: Fields): string | null {
  const id = toText(fields.get('id')) ?? '';
  return /\S/.test(id) && id.length <= MAX_ID_LENGTH ? id : null;
}
