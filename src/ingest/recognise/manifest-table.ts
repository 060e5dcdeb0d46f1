import { basename, posix, sep } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { isEncodedPath, encodePath } from '../../domain/file-path.ts';
import { isObjectPath } from '../../domain/object-path.ts';
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
import { toText } from '../../formats/transcripts/values.ts';
import { readerFor } from './examine.ts';
import { type FileLocation, locateSidecar } from '../sources/file-place.ts';
import { configuredEncoding } from './source-options.ts';
import { OpenSource, type SourceHead } from '../sources/open-source.ts';
import type { SidecarSnapshot, SourceSnapshot } from '../sources/sources-file.ts';
import { readRecords } from '../sources/read-records.ts';
import { layoutByName, recogniseLayout } from './recognise-layout.ts';

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

/** A row that is an item, because it describes no file. */
interface ManifestRow {
  readonly record: SourceRecord;
  readonly error: ItemError;
}

/** A manifest: a table of the files of a corpus, with the columns path, id and caption. */
export class ManifestTable {
  readonly #entries = new Map<string, ManifestEntry>();
  /** In table order. */
  readonly rows: ManifestRow[] = [];
  /** Ends with a separator. */
  readonly #folder: string;
  readonly #isListed: (absolute: string) => boolean;

  private constructor({ absolute }: SidecarSnapshot, isListed: (absolute: string) => boolean) {
    this.#folder = absolute.slice(0, absolute.length - basename(absolute).length);
    this.#isListed = isListed;
  }

  /**
   * Reads a manifest. `isListed` tells whether there was a file at a path when the run was created. Null if the
   * manifest changed after that or can no longer be read.
   */
  static async read(
    source: SidecarSnapshot,
    config: SourceConfig,
    isListed: (absolute: string) => boolean,
    signal: AbortSignal,
  ): Promise<ManifestTable | null> {
    if (source.bytes > MAX_MANIFEST_BYTES) return null;
    const table = new ManifestTable(source, isListed);
    let file: OpenSource | null = null;
    try {
      file = await OpenSource.open(locateSidecar(source), signal);
      const head = await file.head(configuredEncoding(config, false));
      const reader = readerOf(head, source.absolute);
      if (reader === null) return null;
      for await (const records of readRecords(file, head, reader)) table.#add(records);
      return file.matchesSnapshot(source) ? table : null;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Failure) throw error;
      return null;
    } finally {
      await file?.close();
    }
  }

  /** The entry of a file; null if the manifest does not list it. */
  entry({ absolute }: Pick<SourceSnapshot, 'absolute'>): ManifestEntry | null {
    if (!absolute.startsWith(this.#folder)) return null;
    return this.#entries.get(absolute.slice(this.#folder.length).replaceAll(sep, '/')) ?? null;
  }

  #add(records: RecordBatch): void {
    for (const record of records) {
      const error = this.#take(record);
      if (error !== null) this.rows.push({ record, error });
    }
  }

  #take(record: SourceRecord): ItemError | null {
    if (record.error !== null) return record.error;
    const fields = isFields(record.content) ? record.content : null;
    const path = toText(fields?.get('path'))?.trim() ?? '';
    if (fields === null || path === '') {
      const isWrapper = record.isWrapper === true;
      return isWrapper ? null : itemError('MALFORMED_ROW', 'the row of the manifest names no path');
    }
    const inside = insideCorpus(path);
    if (inside === null) {
      return itemError('UNREADABLE_SOURCE', 'the manifest names a path outside its corpus');
    }
    const listed = isEncodedPath(inside) ? inside : encodePath(inside);
    if (!this.#isListed(this.#folder + listed.replaceAll('/', isObjectPath(this.#folder) ? '/' : sep))) {
      return itemError('UNREADABLE_SOURCE', 'the manifest names a file that is not in its corpus');
    }
    if (this.#entries.has(listed)) {
      return itemError('MALFORMED_ROW', 'the manifest names this file a second time');
    }
    const id = idOf(fields);
    const caption = toText(fields.get('caption')) ?? '';
    if (!/\S/.test(caption)) {
      this.#entries.set(listed, { id, caption: null });
    } else if (layoutByName(listed) !== null) {
      this.#entries.set(listed, { id, caption: null });
      return itemError(
        'MALFORMED_ROW',
        'the manifest has a caption for a file that is neither an image nor an audio clip',
      );
    } else {
      this.#entries.set(listed, { id, caption });
    }
    return null;
  }
}

/** Whether a file is a manifest, by its head: a table, or JSON records, with a path. */
export async function isManifest(
  place: FileLocation,
  config: SourceConfig,
  signal: AbortSignal,
): Promise<boolean> {
  let file: OpenSource | null = null;
  try {
    file = await OpenSource.open(place, signal);
    const head = await file.head(configuredEncoding(config, false));
    const reader = readerOf(head, place.absolute);
    const records = reader === null ? [] : recordsOf(reader, head.text, head.isComplete);
    return records.some(({ content }) => isFields(content) && content.get('path') !== undefined);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Failure) throw error;
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
