import { getDocumentProxy, getResolvedPDFJS } from 'unpdf';
import { BLACK_AND_WHITE, encodePixels, type Pixels } from './pixels-png.ts';
import { bytesOf, fileInside, type Unpacked, type Unpacker } from './unpacker.ts';

/** The part of pdf.js that is used; unpdf does not resolve its types. */
interface PdfDocument {
  readonly numPages: number;
  getPage(number: number): Promise<PdfPage>;
  getMetadata(): Promise<{
    readonly info: Readonly<Record<string, unknown>>;
    readonly metadata: Iterable<readonly [string, unknown]> | null;
  }>;
  getOutline(): Promise<unknown>;
  getAttachments(): Promise<Readonly<Record<string, Attachment>> | null>;
  cleanup(): Promise<unknown>;
  destroy(): Promise<unknown>;
}

interface PdfPage {
  readonly objs: PdfObjects;
  /** Objects shared by several pages. */
  readonly commonObjs: PdfObjects;
  getTextContent(): Promise<{
    readonly items: readonly { readonly str?: string; readonly hasEOL?: boolean }[];
  }>;
  getOperatorList(options: { readonly intent: 'any' }): Promise<Operators>;
  getAnnotations(options: { readonly intent: 'any' }): Promise<readonly Annotation[]>;
  cleanup(): void;
}

interface PdfObjects {
  get(id: string, take: (object: unknown) => void): void;
}

interface Operators {
  readonly fnArray: readonly number[];
  readonly argsArray: readonly (readonly unknown[] | null)[];
}

interface Attachment {
  readonly filename?: string;
  readonly content?: Uint8Array;
}

interface Annotation {
  readonly subtype: string;
  readonly file?: Attachment;
}

/** Maximum pixels of an image. */
const MAX_PIXELS = 50_000_000;
/** Fonts and images are released after this many pages. */
const PAGES_KEPT = 50;
/** Maximum steps to find pages. If all pages are in one list, each takes as many steps as there are pages. */
const MAX_STEPS = 100_000_000;
/** After more unreadable pages in a row than this, reading ends, regardless of the document's page count. */
const MAX_UNREADABLE = 20;

/** Options that make pdf.js fetch nothing, run no code of the document, and need no canvas. */
const OPTIONS = {
  isEvalSupported: false,
  useSystemFonts: false,
  disableFontFace: true,
  useWorkerFetch: false,
  isOffscreenCanvasSupported: false,
  isImageDecoderSupported: false,
  enableXfa: false,
  maxImageSize: MAX_PIXELS,
  verbosity: 1,
} as const;

/**
 * Warnings of pdf.js that something was left out. Those about standard fonts, which text does not need, are harmless.
 */
const LEFT_OUT = /ignoring|image|cMapUrl|font loading|XObject|is not available|getAnnotationsData/i;
const HARMLESS = /standardFontDataUrl|fetchStandardFontData/;

/** Annotations that play media, which is not read. */
const PLAYED: ReadonlySet<string> = new Set(['RichMedia', 'Screen', 'Movie', 'Sound', '3D']);

/** Characters without a meaning, as in fonts that do not map their glyphs to letters. */
const MEANINGLESS = /[\p{Co}\p{Cn}\ufffd\0-\x08\x0e-\x1f]/gu;
const MAX_MEANINGLESS = 0.1;

/** Unpacks a PDF document: the text, images, notes and form fields of each page, and the document's attachments. */
export const unpackPdf: Unpacker = async function* (input) {
  const data = new Uint8Array(await bytesOf(input));
  const warnings = collectWarnings();
  const { OPS } = (await getResolvedPDFJS()) as { readonly OPS: Readonly<Record<string, number>> };
  const operators = new Map(Object.entries(OPS).map(([name, code]) => [code, name]));
  let pdf: PdfDocument;
  try {
    pdf = (await getDocumentProxy(data, OPTIONS)) as PdfDocument;
  } catch (error) {
    if (!(error instanceof Error && error.name === 'PasswordException')) throw error;
    yield { name: '', problem: 'encrypted' };
    return;
  }
  yield* documentTexts(pdf);
  const pages = Math.min(pdf.numPages, Math.floor(MAX_STEPS / pdf.numPages));
  let unreadable = 0;
  for (let number = 1; number <= pages; number++) {
    warnings.length = 0;
    const name = `page ${number}`;
    try {
      const page = await pdf.getPage(number);
      yield* new PageParts(page, name, pdf.numPages - number, operators).parts();
      page.cleanup();
      if (number % PAGES_KEPT === 0) await pdf.cleanup();
      unreadable = 0;
    } catch (error) {
      if (++unreadable > MAX_UNREADABLE) throw error;
      yield { name, problem: 'damaged' };
    }
    if (warnings.some((text) => LEFT_OUT.test(text) && !HARMLESS.test(text))) {
      yield { name, problem: 'partly' };
    }
  }
  yield* attachments(pdf);
  if (pages < pdf.numPages) yield { name: '', problem: 'too-large', parts: pdf.numPages - pages };
  await pdf.destroy();
};

/**
 * Collects warnings that pdf.js writes to the console, and its unhandled rejections, which would end the process. Also
 * adds a method that Node 20 lacks.
 */
function collectWarnings(): string[] {
  const warnings: string[] = [];
  Object.assign(console, { warn: (text: unknown) => void warnings.push(String(text)) });
  // Replaces the listener of the previous document: the documents of an archive are read one after another.
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', (error) => void warnings.push(`ignoring ${String(error)}`));
  const transfer = function (this: ArrayBuffer, length: number = this.byteLength): ArrayBuffer {
    return this.slice(0, length);
  };
  if (!('transferToFixedLength' in ArrayBuffer.prototype)) {
    Object.defineProperty(ArrayBuffer.prototype, 'transferToFixedLength', { value: transfer });
  }
  return warnings;
}

/** Title, subject, keywords and other properties, and the titles of the outline. */
async function* documentTexts(pdf: PdfDocument): AsyncGenerator<Unpacked, void> {
  const { info, metadata } = await pdf.getMetadata();
  const values = [...Object.entries(info), ...(metadata ?? [])].filter(
    ([key]) => !/date|^(?:PDFFormatVersion|Language|EncryptFilterName)$/i.test(key),
  );
  const properties = stringsIn(values.map(([, value]) => value));
  if (properties.length > 0) yield { name: 'properties', text: [...new Set(properties)].join('\n') };
  const outline = stringsIn((await pdf.getOutline()) ?? [], ['title', 'items']);
  if (outline.length > 0) yield { name: 'outline', text: outline.join('\n') };
  if (info.IsXFAPresent === true) yield { name: 'form', problem: 'form' };
}

async function* attachments(pdf: PdfDocument): AsyncGenerator<Unpacked, void> {
  for (const file of Object.values((await pdf.getAttachments()) ?? {})) yield attachment('', file);
}

function attachment(prefix: string, { filename, content }: Attachment): Unpacked {
  const name = `${prefix}attachment ${filename ?? ''}`.trim();
  return content === undefined ? { name, problem: 'damaged' } : fileInside(name, Buffer.from(content));
}

/** Fields of an annotation with its text, filled-in values and choices. */
const ANNOTATION_TEXTS = [
  ...['contentsObj', 'str', 'richText', 'textContent', 'fieldValue', 'defaultFieldValue', 'alternativeText'],
  ...['options', 'displayValue', 'overlayText'],
];

/** Operators that paint something other than an image. */
const PAINTS: ReadonlySet<string> = new Set([
  ...['constructPath', 'rawFillPath', 'fill', 'eoFill', 'stroke', 'fillStroke', 'shadingFill', 'showText'],
  'paintSolidColorImageMask',
]);
/** Operators that paint images; their first argument is an image or a list of images. */
const PAINTS_IMAGE = /^paint(?:Inline)?Image/;

class PageParts {
  readonly #page: PdfPage;
  readonly #name: string;
  /** Number of pages that follow. */
  readonly #left: number;
  /** Operator names by code. */
  readonly #operators: ReadonlyMap<number, string>;
  #images = 0;
  #paintings = 0;
  /** Texts that are drawn as part of annotations. */
  readonly #drawn: string[] = [];

  constructor(page: PdfPage, name: string, left: number, operators: ReadonlyMap<number, string>) {
    this.#page = page;
    this.#name = name;
    this.#left = left;
    this.#operators = operators;
  }

  async *parts(): AsyncGenerator<Unpacked, void> {
    const { items } = await this.#page.getTextContent();
    const text = items.map(({ str = '', hasEOL }) => str + (hasEOL === true ? '\n' : '')).join('');
    const hasText = /\S/.test(text);
    if (hasText) yield { name: this.#name, text, left: this.#left };
    const meaningless = text.match(MEANINGLESS)?.length ?? 0;
    if (meaningless > MAX_MEANINGLESS * text.length) yield { name: this.#name, problem: 'letters' };
    yield* this.#paintedBy(await this.#page.getOperatorList({ intent: 'any' }));
    if (!hasText && this.#images === 0 && this.#paintings > 0) yield { name: this.#name, problem: 'drawn' };
    yield* this.#annotations();
  }

  async *#annotations(): AsyncGenerator<Unpacked, void> {
    const annotations = await this.#page.getAnnotations({ intent: 'any' });
    const texts = new Set([...stringsIn(annotations, ANNOTATION_TEXTS), ...this.#drawn]);
    if (texts.size > 0) yield { name: `${this.#name} annotations`, text: [...texts].join('\n') };
    for (const { subtype, file } of annotations) {
      if (file !== undefined) yield attachment(`${this.#name} `, file);
      if (PLAYED.has(subtype)) yield { name: `${this.#name} ${subtype}`, problem: 'partly' };
    }
  }

  /** Images that are painted on a page, or in a form or pattern on it. */
  async *#paintedBy({ fnArray, argsArray }: Operators): AsyncGenerator<Unpacked, void> {
    let isInAnnotation = false;
    for (const [at, code] of fnArray.entries()) {
      const operator = this.#operators.get(code) ?? '';
      const args = argsArray[at] ?? [];
      if (operator.endsWith('Annotation')) isInAnnotation = operator === 'beginAnnotation';
      if (operator === 'showText' && isInAnnotation) this.#drawn.push(glyphsToText(args[0]));
      const isInvisible =
        operator === 'constructPath' && this.#operators.get(args[0] as number) === 'endPath';
      if (PAINTS.has(operator) && !isInvisible) this.#paintings++;
      for (const arg of args) if (isOperators(arg)) yield* this.#paintedBy(arg);
      if (PAINTS_IMAGE.test(operator)) for (const image of [args[0]].flat()) yield await this.#image(image);
    }
  }

  /** `image` contains the pixels, or is the id of an object with the pixels, or has that id as its `data`. */
  async #image(image: unknown): Promise<Unpacked> {
    const name = `${this.#name} image ${++this.#images}`;
    const { data = image } = Object(image) as { readonly data?: unknown };
    const found = typeof data === 'string' ? await this.#object(data) : image;
    const { kind = BLACK_AND_WHITE, ...pixels } = Object(found) as Partial<Pixels>;
    const png = ArrayBuffer.isView(pixels.data) ? encodePixels({ ...(pixels as Pixels), kind }) : null;
    return png === null ? { name, problem: 'damaged' } : fileInside(name, png);
  }

  async #object(id: string): Promise<unknown> {
    const objects = id.startsWith('g_') ? this.#page.commonObjs : this.#page.objs;
    return new Promise((resolve) => void objects.get(id, resolve));
  }
}

function isOperators(value: unknown): value is Operators {
  return typeof value === 'object' && value !== null && 'fnArray' in value && 'argsArray' in value;
}

/** The text of glyphs, which alternate with distances. */
function glyphsToText(glyphs: unknown): string {
  const all = Array.isArray(glyphs)
    ? (glyphs as readonly (Readonly<{ unicode?: string }> | number | null)[])
    : [];
  return all.map((glyph) => (typeof glyph === 'object' ? (glyph?.unicode ?? '') : '')).join('');
}

/** All strings in a value of the library; in objects, only those under `keys`, if given. */
function stringsIn(value: unknown, keys: readonly string[] | null = null): readonly string[] {
  if (typeof value === 'string') return /\S/.test(value) ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  const held =
    Array.isArray(value) || keys === null
      ? Object.values(value)
      : keys.map((key) => (value as Readonly<Record<string, unknown>>)[key]);
  return held.flatMap((each) => stringsIn(each, keys));
}
