import type { SourceConfig } from '../../config/run-config.ts';
import type { Item, JudgedItem } from '../../domain/item.ts';
import type { OutcomeLine } from '../../domain/outcome.ts';
import { NotAnOrdinaryFile } from '../../files/open-file.ts';
import { OutsideFolder } from '../../files/open-inside.ts';
import { ParquetProblem } from '../../formats/parquet/parquet-problem.ts';
import { recordBytesLimit, type SourceRecord } from '../../formats/record.ts';
import { ItemMaker } from '../items/item-maker.ts';
import { readSource } from '../items/read-source.ts';
import type { FrozenSource } from '../plan/plan-line.ts';
import { CorruptGzip, frozenState, isAsFrozen } from '../sources/file-bytes.ts';
import { placeOfSource } from '../sources/file-place.ts';
import type { FrozenSources } from '../sources/frozen-sources.ts';
import { encodingOf, idNamesOf, isNamedFile } from '../sources/named-file.ts';
import { OpenSource } from '../sources/open-source.ts';
import { readParquet } from '../sources/parquet-rows.ts';
import { findRecord } from './find-records.ts';
import { readForm, type SourceForm } from './source-form.ts';
import { decodedText, plainText, RecentText } from './source-text.ts';

/** A source of a run, and how the run read it. */
export interface JudgedSource {
  readonly source: FrozenSource;
  readonly config: SourceConfig;
  readonly frozen: FrozenSources;
  /** Max size of a text item, and of a media file, in bytes. */
  readonly itemBytes: number;
  readonly mediaBytes: number;
}

/** An item, as its outcome line names it. */
export type WantedItem = Pick<OutcomeLine, 'source' | 'part' | 'turn' | 'content_sha256'>;

/** An item that was read again, and all items of its record, itself included. */
export interface ItemAgain {
  readonly item: JudgedItem;
  readonly record: readonly Item[];
}

/** Why an item was not found: its file is not the one that was judged, or cannot be read. */
export type NotFound = 'changed' | 'unreadable';

/** Sources of which the form is kept. */
const MAX_FORMS = 64;

interface KnownSource {
  readonly form: SourceForm | null;
  /** Reading it in order did not find an item: it need not be tried again. */
  isDifferent: boolean;
}

/**
 * Reads single items of sources again. An item is found only with the content that was judged. Of files of records it
 * keeps where to begin, so that a record deep in a large file is read at once from the second time on. Memory: 64
 * sources with up to 1 MB of checkpoints, and 8 MB of text of files that are compressed or not in UTF-8.
 */
export class ItemReader {
  /** The least recently used first. */
  readonly #known = new Map<string, KnownSource>();
  readonly #recent = new RecentText();

  /** Rejects with the signal's reason, and on bugs. */
  async read(from: JudgedSource, wanted: WantedItem, signal: AbortSignal): Promise<ItemAgain | NotFound> {
    if (wanted.source.row === null || from.source.manifest === from.source.source) {
      return inOrder(await asItIsNow(from), wanted, signal);
    }
    const direct = await this.#direct(from, wanted, signal);
    if (direct.found !== null) return direct.found;
    const { known } = direct;
    // Reading it in order takes long, and finds no more in a file that has changed.
    if (known?.isDifferent === true) return 'changed';
    const found = await inOrder(from, wanted, signal);
    if (known !== null && found === 'changed') known.isDifferent = true;
    return found;
  }

  /** Reads the record alone. `known` is null for a file that cannot be opened. */
  async #direct(
    { source, config, itemBytes }: JudgedSource,
    wanted: WantedItem,
    signal: AbortSignal,
  ): Promise<{ readonly found: ItemAgain | null; readonly known: KnownSource | null }> {
    let known: KnownSource | null = null;
    try {
      const file = await OpenSource.open(placeOfSource(source), signal);
      try {
        const { dev, ino, size, mtimeMs, ctimeMs } = file.stats;
        const name = JSON.stringify([source.absolute, dev, ino, size, mtimeMs, ctimeMs, config]);
        const remembered = this.#known.get(name);
        known = remembered ?? {
          form: await readForm(file, { source, config, itemBytes, signal }),
          isDifferent: !isAsFrozen(file.stats, source),
        };
        this.#keep(name, known);
        const { form } = known;
        if (form === null) return { found: null, known };
        if (remembered !== undefined && form.plainFrom === null && form.layout.kind !== 'parquet') {
          await file.head(encodingOf(config, isNamedFile(source, config)));
        }
        const record = await this.#record(file, name, form, { ...wanted.source, config, itemBytes, signal });
        const found = record === null ? null : itemOf(record, wanted, { source, config, itemBytes, form });
        return { found, known };
      } finally {
        await file.close();
      }
    } catch (error) {
      signal.throwIfAborted();
      if (isOfFile(error)) return { found: null, known };
      throw error;
    }
  }

  async #record(
    file: OpenSource,
    name: string,
    form: SourceForm,
    {
      row,
      line,
      config,
      itemBytes,
      signal,
    }: Pick<OutcomeLine['source'], 'row' | 'line'> & {
      readonly config: SourceConfig;
      readonly itemBytes: number;
      readonly signal: AbortSignal;
    },
  ): Promise<SourceRecord | null> {
    const { layout } = form;
    if (layout.kind === 'parquet') {
      for await (const batch of readParquet(file, { config, itemBytes, signal, fromRow: row! })) {
        const record = batch.find((each) => each.row === row);
        if (record !== undefined) return record;
      }
      return null;
    }
    if (line === null) return null;
    const text =
      form.plainFrom === null
        ? decodedText(file, { file: name, recent: this.#recent })
        : plainText(file.handle, { markBytes: form.plainFrom, signal });
    return findRecord({ ...form, layout }, text, { row: row!, line }, recordBytesLimit(itemBytes));
  }

  #keep(name: string, known: KnownSource): void {
    this.#known.delete(name);
    this.#known.set(name, known);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MAX_FORMS) return;
      this.#known.delete(oldest);
    }
  }
}

/** The items that a record makes, if the wanted one is among them. */
function itemOf(
  record: SourceRecord,
  wanted: WantedItem,
  {
    source,
    config,
    itemBytes,
    form,
  }: Pick<JudgedSource, 'source' | 'config' | 'itemBytes'> & { readonly form: SourceForm },
): ItemAgain | null {
  const idNames = idNamesOf(config, isNamedFile(source, config));
  const maker = new ItemMaker({ source, idNames, firstSeq: 0, itemBytes, replay: config.asStream });
  const items: Item[] = [];
  maker.add(record, form.options, items);
  const item = items.find((each) => isWanted(each, wanted));
  return item === undefined ? null : { item: item as JudgedItem, record: items };
}

/** Reads the source as a run does, from its beginning. */
async function inOrder(
  { source, config, frozen, itemBytes, mediaBytes }: JudgedSource,
  wanted: WantedItem,
  signal: AbortSignal,
): Promise<ItemAgain | NotFound> {
  const { row } = wanted.source;
  let record: Item[] = [];
  for await (const items of readSource(source, config, 0, { frozen, itemBytes, mediaBytes, signal })) {
    for (const item of items) {
      if (item.source.row === null && item.settled !== null) {
        return item.settled.error?.code === 'UNREADABLE_SOURCE' ? 'unreadable' : 'changed';
      }
      if (item.source.row !== record[0]?.source.row) {
        const found = record.find((each) => isWanted(each, wanted));
        if (found !== undefined) return { item: found as JudgedItem, record };
        record = [];
      }
      if (row !== null && (item.source.row ?? 0) > row) return 'changed';
      record.push(item);
    }
  }
  const found = record.find((each) => isWanted(each, wanted));
  return found === undefined ? 'changed' : { item: found as JudgedItem, record };
}

/** Whether an item is the wanted one, with the content that was judged. Lines of early builds name no part. */
function isWanted(item: Item, { source, part, turn, content_sha256 }: WantedItem): boolean {
  return (
    item.settled === null &&
    item.source.row === source.row &&
    item.contentSha256 === content_sha256 &&
    (part === undefined || item.part === part) &&
    (turn === undefined || item.turn === turn)
  );
}

/**
 * The source with the present state of its file and of the text beside it: whether a file that is one item is the one
 * that was judged is told by its content, not by its times.
 */
async function asItIsNow(from: JudgedSource): Promise<JudgedSource> {
  const { source } = from;
  const { sidecar } = source;
  const state = await frozenState(source.absolute);
  const beside = sidecar && { ...sidecar, ...(await frozenState(sidecar.absolute)) };
  return { ...from, source: { ...source, ...state, sidecar: beside } };
}

/** Whether an error is of the file, rather than an abort or a bug. */
function isOfFile(error: unknown): boolean {
  return (
    error instanceof CorruptGzip ||
    error instanceof ParquetProblem ||
    error instanceof NotAnOrdinaryFile ||
    error instanceof OutsideFolder ||
    (error instanceof Error && 'syscall' in error)
  );
}
