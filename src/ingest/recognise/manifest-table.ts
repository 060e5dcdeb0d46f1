import { dirname, posix, relative, sep } from 'node:path';
import { isRecordedPath, recordedPath } from '../../domain/file-path.ts';
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
import { textsBeside } from '../../formats/transcripts/texts-beside.ts';
import { textOf } from '../../formats/transcripts/values.ts';
import { readerFor } from './examine.ts';
import { isAsFrozen } from '../sources/file-bytes.ts';
import { type FilePlace, placeOfDescription } from '../sources/file-place.ts';
import { encodingOf } from '../sources/named-file.ts';
import { OpenSource, type SourceHead } from '../sources/open-source.ts';
import type { FrozenSidecar, FrozenSource } from '../plan/plan-line.ts';
import { readRecords } from '../sources/read-records.ts';
import { recogniseLayout } from './recognise-layout.ts';

/** Names under which a corpus lists its files, in its own folder; the first that is there counts. */
export const MANIFEST_NAMES: readonly string[] = ['manifest.csv', 'manifest.jsonl'];

/** Largest list of files, in bytes: it is held while its corpus is read. */
export const MAX_MANIFEST_BYTES = 64 * 1024 * 1024;
const MAX_ROW_BYTES = 1024 * 1024;
const MAX_ID = 512;

/** What a manifest says of a file. */
interface ManifestEntry {
  readonly id: string | null;
  readonly caption: string | null;
}

/** A file that a manifest may list. */
export interface ListedFile {
  /** Whether its caption is judged with it. */
  readonly isDescribed: boolean;
}

/** A row that is an item. */
type ManifestRow =
  /** It says nothing of any file of the corpus, and why. */
  | { readonly record: SourceRecord; readonly error: ItemError }
  /** It holds what is not judged with the file that it is about. */
  | { readonly record: SourceRecord; readonly error: null; readonly texts: readonly string[] };

/** The file at a path below the corpus, as it was when the run was created; null when there was none. */
type FileAt = (relative: string) => ListedFile | null;

/** The list of its files that a corpus brings with it: a table with the columns path, id and caption. */
export class ManifestTable {
  readonly #entries = new Map<string, ManifestEntry>();
  /** In the order of the table. */
  readonly rows: ManifestRow[] = [];
  readonly #folder: string;

  /** `folder`: absolute, of the files that are listed. */
  private constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Reads a manifest of the files that `fileAt` knows. Null for one that changed since the run was created, or cannot
   * be read any more.
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
      return isAsFrozen(await file.handle.stat(), source) ? table : null;
    } catch {
      signal.throwIfAborted();
      return null;
    } finally {
      await file?.close();
    }
  }

  /** What is said of a file; null when nothing is. */
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
    const path = textOf(record.content.get('path'))?.trim();
    if (path === undefined || path === '') {
      if (record.isAround === true && textsBeside(record.content, []).length === 0) return null;
      return itemError('MALFORMED_ROW', 'the row of the manifest names no path');
    }
    const inside = insideCorpus(path);
    if (inside === null) {
      return itemError('UNREADABLE_SOURCE', 'the manifest names a path outside of its corpus');
    }
    const listed = isRecordedPath(inside) ? inside : recordedPath(inside);
    const file = fileAt(listed);
    if (file === null) {
      return itemError('UNREADABLE_SOURCE', 'the manifest names a file that is not in its corpus');
    }
    if (this.#entries.has(listed)) {
      return itemError('MALFORMED_ROW', 'the manifest names this file a second time');
    }
    const said = textOf(record.content.get('caption')) ?? '';
    const caption = /\S/.test(said) ? said : null;
    const id = idOf(record.content);
    this.#entries.set(listed, { id, caption });
    // What stands in these columns and is no id or no caption is said all the same.
    const taken = ['path', ...(id === null ? [] : ['id']), ...(caption === null ? [] : ['caption'])];
    const others = textsBeside(record.content, taken);
    const texts = caption === null || file.isDescribed ? others : [caption, ...others];
    if (texts.length > 0) this.rows.push({ record, error: null, texts });
    return null;
  }
}

/** Whether a file, by its head, lists files: a table or records with a path. */
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
  const layout = recogniseLayout(head.text, head.isComplete, path, null);
  return layout.kind === 'text' ? null : readerFor(layout, MAX_ROW_BYTES);
}

/** A path as it is below the corpus; null for one that leads out of it. A name may begin with an escape. */
function insideCorpus(path: string): string | null {
  if (posix.isAbsolute(path) || /^[A-Za-z]:[\\/]|^\\(?!x[0-9a-f]{2})|\0/.test(path)) return null;
  const normal = posix.normalize(path).replace(/\/$/, '');
  return normal === '..' || normal.startsWith('../') || path.split('\\').includes('..') ? null : normal;
}

function idOf(fields: Fields): string | null {
  const id = textOf(fields.get('id')) ?? '';
  return /\S/.test(id) && id.length <= MAX_ID ? id : null;
}
