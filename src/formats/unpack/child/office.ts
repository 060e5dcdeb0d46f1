import { posix } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { MAX_PART_BYTES } from '../messages.ts';
import { readOdsSheets, readSharedStrings, readWorksheet } from './sheets.ts';
import { type Budget, type Input, PartTooLarge, TooLarge, type Unpacked } from './unpacker.ts';
import { readXml, type XmlTag } from './xml.ts';
import { readXmlText } from './xml-text.ts';
import { type ZipEntry, zipEntries } from './zip-file.ts';

/** OOXML (ECMA-376) or OpenDocument, where `ods` is a spreadsheet. */
export type OfficeKind = 'ooxml' | 'odf' | 'ods';

/** Maximum files in a document. */
const MAX_ENTRIES = 65_536;

const XML_NAME = /\.(?:xml|rels|vml|rdf)$/i;
/** Start of XML in a file with another extension, unless it is a drawing or a page. */
const XML_START = /^(?:\xef\xbb\xbf)?\s*<(?:\?xml|\w+:\w)/;
const NOT_OFFICE_XML = /\.(?:svg|x?html?|mht)$/i;
/** Number of bytes needed to detect the type of a file. */
const EXAMINED_BYTES = 256;

const IMAGE = /\.(?:png|jpe?g|gif|bmp|tiff?|webp|hei[cf]|emf|wmf|svg|svm)$/i;
const MACROS = /(?:^|\/)vbaProject\.bin$/i;
/**
 * Files that programs keep for their own use, by name and content: printer settings (DEVMODE), page breaks, the media
 * type.
 */
const OWN_NAME = /(?:^|\/)(?:printerSettings\d*\.bin|layout-cache|mimetype)$/i;
const OWN_START = /^(?:.{64}\x01\x04..\xdc\0|\x01\0[\0-\x05]\0|application\/vnd\.oasis\.)/s;

const STRINGS = 'xl/sharedstrings.xml';
const WORKSHEET = /\/worksheets\/[^/]+\.xml$/i;

/** Names of texts by file name; several files with the same text name form one text. */
const TEXTS: readonly (readonly [file: RegExp, name: string])[] = [
  [/^(?:word\/document\d*|content)\.xml$/i, 'text'],
  [/^word\/footnotes\.xml$/i, 'footnotes'],
  [/^word\/endnotes\.xml$/i, 'endnotes'],
  [/^(?:word\/(?:header|footer)\d*|styles)\.xml$/i, 'headers and footers'],
  [/comments?[^/]*(?:\/[^/]+)?\.xml$/i, 'comments'],
  [/^(?:docProps\/.*|meta\.xml)$/i, 'properties'],
  [/^ppt\/(?:slideLayouts|\w+Masters)\//i, 'layouts'],
];
const OTHER = 'other text';
/** Repetitive texts of settings and templates: each line is judged once, and lines without a word are not judged. */
const REPETITIVE: ReadonlySet<string> = new Set(['properties', 'layouts', OTHER]);
const WITHOUT_WORDS = /^(?:[\d\s.:;,TZ+-]*|true|false)$/i;

/**
 * Unpacks an office document: its texts as rendered, the cells of its sheets, and the files in it. Reads every file in
 * its archive, regardless of its declared purpose; executes and fetches nothing.
 */
export async function* unpackOffice(
  input: Input,
  kind: OfficeKind,
  budget: Budget,
): AsyncGenerator<Unpacked, void> {
  const entries: ZipEntry[] = [];
  for await (const entry of zipEntries(input)) {
    entries.push(entry);
    if (entries.length > MAX_ENTRIES) throw new TooLarge();
  }
  yield* new OfficeDocument(entries, kind, budget).parts();
}

class OfficeDocument {
  readonly #entries: readonly ZipEntry[];
  /** Entries by file name in lower case: names that differ only in case count as equal. */
  readonly #byName: ReadonlyMap<string, ZipEntry>;
  readonly #kind: OfficeKind;
  readonly #isWorkbook: boolean;
  readonly #budget: Budget;
  /** Names of slides, sheets and the parts of slides, by their files in lower case. */
  readonly #names = new Map<string, string>();
  readonly #texts = new Map<string, string[]>();
  #length = 0;
  #images = 0;

  constructor(entries: readonly ZipEntry[], kind: OfficeKind, budget: Budget) {
    this.#entries = entries;
    this.#byName = new Map(entries.map((entry) => [entry.name.toLowerCase(), entry]));
    this.#kind = kind;
    this.#isWorkbook = kind === 'ooxml' && this.#byName.has('xl/workbook.xml');
    this.#budget = budget;
  }

  async *parts(): AsyncGenerator<Unpacked, void> {
    if (this.#kind !== 'ooxml' && (await this.#tags('meta-inf/manifest.xml', 'encryption-data')).length > 0) {
      yield { name: '', problem: 'encrypted' };
      return;
    }
    await this.#nameSlidesAndSheets();
    const files: ZipEntry[] = [];
    for (const entry of this.#entries) {
      const { name, bytes, problem } = entry;
      if (problem !== null) yield { name, problem, bytes };
      else if (bytes > MAX_PART_BYTES) yield { name, problem: 'part-too-large', bytes };
      else if (XML_NAME.test(name)) yield* this.#xml(entry);
      else if (bytes > 0) files.push(entry);
    }
    yield* this.#collected();
    yield* this.#sheets();
    for (const entry of files) yield* this.#file(entry);
    yield* this.#collected();
  }

  /** Collects the words of an XML file. */
  async *#xml(entry: ZipEntry): AsyncGenerator<Unpacked, void> {
    const file = entry.name.toLowerCase();
    if (this.#isWorkbook && file === STRINGS) return;
    const text = yield* this.#read(entry, async (bytes) => readXmlText(bytes, this.#holdsCells(entry)));
    if (text === null) return;
    const name = this.#names.get(file) ?? TEXTS.find(([names]) => names.test(file))?.[1] ?? OTHER;
    this.#add(name, text.visible);
    this.#add('hidden text', text.hidden);
  }

  #add(name: string, lines: readonly string[]): void {
    if (lines.length === 0) return;
    for (const { length } of lines) this.#length += length;
    if (this.#length > MAX_PART_BYTES) throw new PartTooLarge(this.#length);
    const text = this.#texts.get(name);
    if (text === undefined) this.#texts.set(name, [...lines]);
    else for (const line of lines) text.push(line);
  }

  *#collected(): Generator<Unpacked, void> {
    for (const [name, lines] of this.#texts) {
      const words = REPETITIVE.has(name)
        ? [...new Set(lines)].filter((line) => !WITHOUT_WORDS.test(line))
        : lines;
      if (words.length > 0) yield { name, text: words.join('\n') };
    }
    this.#texts.clear();
  }

  async *#sheets(): AsyncGenerator<Unpacked, void> {
    const shared = this.#isWorkbook ? this.#byName.get(STRINGS) : undefined;
    const strings = shared === undefined ? [] : yield* this.#read(shared, readSharedStrings);
    for (const entry of this.#entries) {
      if (!this.#holdsCells(entry)) continue;
      const sheets = yield* this.#read(entry, async (bytes) =>
        this.#kind === 'ods'
          ? readOdsSheets(bytes)
          : [{ name: '', csv: await readWorksheet(bytes, strings ?? []) }],
      );
      const own = this.#names.get(entry.name.toLowerCase()) ?? `sheet ${posix.basename(entry.name, '.xml')}`;
      for (const { name, csv } of sheets ?? []) {
        if (csv.length > 0) yield { name: name === '' ? own : `sheet ${name}`, csv };
      }
    }
  }

  #holdsCells({ name, problem }: ZipEntry): boolean {
    const file = name.toLowerCase();
    if (problem !== null) return false;
    if (this.#kind === 'ods') return file === 'content.xml';
    return (
      this.#isWorkbook && (WORKSHEET.test(file) || (this.#names.get(file)?.startsWith('sheet ') ?? false))
    );
  }

  async *#file(entry: ZipEntry): AsyncGenerator<Unpacked, void> {
    const { name, bytes, stream } = entry;
    if (MACROS.test(name)) yield { name: 'macros', problem: 'macros', bytes };
    else if (IMAGE.test(name)) yield { name: `image ${++this.#images}`, bytes, left: null, stream };
    else {
      const content = yield* this.#read(entry, buffer);
      const start = content?.toString('latin1', 0, EXAMINED_BYTES) ?? '';
      if (XML_START.test(start) && !NOT_OFFICE_XML.test(name)) yield* this.#xml(entry);
      else if (content !== null && !(OWN_NAME.test(name) && OWN_START.test(start))) {
        yield { name, bytes, left: null, stream: () => Readable.from([content]) };
      }
    }
  }

  /** Makes something of a file in the document; yields a problem and returns null if the file cannot be read. */
  async *#read<T>(
    { name, bytes, stream }: ZipEntry,
    make: (content: Readable) => Promise<T>,
  ): AsyncGenerator<Unpacked, T | null> {
    if (!this.#budget.takeBytes(bytes)) throw new TooLarge();
    try {
      return await make(await stream());
    } catch (error) {
      yield { name, problem: error instanceof PartTooLarge ? 'part-too-large' : 'damaged', bytes };
      return null;
    }
  }

  /** Names slides and their parts by order, and sheets by their own names. */
  async #nameSlidesAndSheets(): Promise<void> {
    let slides = 0;
    for (const { file } of await this.#listed('ppt/presentation.xml', 'sldId')) {
      const slide = `slide ${++slides}`;
      this.#names.set(file, slide);
      for (const target of (await this.#targets(file)).values()) {
        const what = /\/(notes|comments)[^/]*\//.exec(target)?.[1];
        if (what !== undefined) this.#names.set(target, `${slide} ${what}`);
      }
    }
    for (const { file, name } of await this.#listed('xl/workbook.xml', 'sheet')) {
      this.#names.set(file, `sheet ${name}`);
    }
  }

  /** Resolves a list in a file to the files that it refers to, in order. */
  async #listed(list: string, local: string): Promise<{ readonly file: string; readonly name: string }[]> {
    const tags = await this.#tags(list, local);
    const targets = tags.length === 0 ? null : await this.#targets(list);
    return tags.flatMap(({ attributes }) => {
      const file = targets?.get(attributes.get('id') ?? '');
      return file === undefined ? [] : [{ file, name: attributes.get('name') ?? '' }];
    });
  }

  /** The files to which a file refers, by id (ECMA-376 Part 2, 6.5). */
  async #targets(file: string): Promise<ReadonlyMap<string, string>> {
    const folder = posix.dirname(file);
    const tags = await this.#tags(`${folder}/_rels/${posix.basename(file)}.rels`, 'Relationship');
    return new Map(
      tags.map(({ attributes }) => {
        const target = posix.resolve('/', folder, attributes.get('Target') ?? '');
        return [attributes.get('Id') ?? '', target.slice(1).toLowerCase()];
      }),
    );
  }

  /** The elements with a name in a file; none if it cannot be read, which is reported when its words are read. */
  async #tags(file: string, local: string): Promise<readonly XmlTag[]> {
    const entry = this.#byName.get(file);
    const tags: XmlTag[] = [];
    if (entry === undefined || entry.problem !== null || entry.bytes > MAX_PART_BYTES) return tags;
    if (!this.#budget.takeBytes(entry.bytes)) throw new TooLarge();
    try {
      const open = (tag: XmlTag): void => void (tag.local === local && tags.push(tag));
      await readXml(await entry.stream(), { open, text: () => {}, close: () => {} });
    } catch {}
    return tags;
  }
}
