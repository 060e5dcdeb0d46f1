import { strToU8, zipSync } from 'fflate';

export type Files = Readonly<Record<string, string | Uint8Array>>;

/** A file of JSON Lines. */
export const jsonl = (...records: readonly unknown[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('');

/** A ZIP archive of the files, in this order; of level 0, it has their bytes as they are. */
export function zipOf(files: Files, level: 0 | 6 = 6): Buffer {
  const bytesOf = (content: string | Uint8Array) =>
    typeof content === 'string' ? strToU8(content) : content;
  const entries = Object.entries(files).map(([name, content]) => [name, bytesOf(content)] as const);
  return Buffer.from(zipSync(Object.fromEntries(entries), { level }));
}

const OOXML = 'http://schemas.openxmlformats.org';
const W = `xmlns:w="${OOXML}/wordprocessingml/2006/main" xmlns:r="${OOXML}/officeDocument/2006/relationships"`;
const A = `xmlns:a="${OOXML}/drawingml/2006/main" xmlns:r="${OOXML}/officeDocument/2006/relationships"`;
const S = `xmlns="${OOXML}/spreadsheetml/2006/main" xmlns:r="${OOXML}/officeDocument/2006/relationships"`;
const TYPES = { '[Content_Types].xml': '<Types/>' };

/** A file of a Word document: `body` is WordprocessingML. */
export const word = (body: string): string => `<?xml version="1.0"?><w:document ${W}>${body}</w:document>`;
/** A paragraph of Word with a run for each text. */
export const paragraph = (...texts: string[]): string =>
  `<w:p>${texts.map((text) => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`).join('')}</w:p>`;

export function docx(body: string, files: Files = {}): Buffer {
  return zipOf({ ...TYPES, 'word/document.xml': word(body), ...files });
}

/** A slide, or another file of a presentation, with a text. */
export const slide = (text: string): string => `<a:x ${A}><a:p><a:r><a:t>${text}</a:t></a:r></a:p></a:x>`;

/** A list of relationships: the targets have the ids `r1`, `r2` and so on. */
export const relations = (...targets: string[]): string =>
  `<Relationships>${targets.map((target, at) => `<Relationship Id="r${at + 1}" Target="${target}"/>`).join('')}</Relationships>`;

/** A presentation whose slides are files in another order than their numbers. */
export function pptx(first: string, second: string, files: Files = {}): Buffer {
  return zipOf({
    ...TYPES,
    'ppt/presentation.xml': `<p ${A}><sldId id="256" r:id="r2"/><sldId id="257" r:id="r1"/></p>`,
    'ppt/_rels/presentation.xml.rels': relations('slides/slide1.xml', '/ppt/slides/slide2.xml'),
    'ppt/slides/slide1.xml': slide(second),
    'ppt/slides/slide2.xml': slide(first),
    ...files,
  });
}

/** A workbook with sheets in SpreadsheetML, by their names; cells of type `s` are of the strings. */
export function xlsx(
  sheets: Readonly<Record<string, string>>,
  strings: readonly string[],
  files: Files = {},
): Buffer {
  const names = Object.keys(sheets);
  return zipOf({
    ...TYPES,
    'xl/workbook.xml': `<workbook ${S}>${names.map((name, at) => `<sheet name="${name}" sheetId="1" state="hidden" r:id="r${at + 1}"/>`).join('')}</workbook>`,
    'xl/_rels/workbook.xml.rels': relations(...names.map((_, at) => `worksheets/sheet${at + 1}.xml`)),
    'xl/sharedStrings.xml': `<sst ${S}>${strings.map((text) => `<si><t>${text}</t></si>`).join('')}</sst>`,
    ...Object.fromEntries(
      Object.values(sheets).map((rows, at) => [
        `xl/worksheets/sheet${at + 1}.xml`,
        `<worksheet ${S}><sheetData>${rows}</sheetData><oddHeader>head of ${names[at]}</oddHeader></worksheet>`,
      ]),
    ),
    ...files,
  });
}

const ODF = ['office', 'text', 'table', 'style', 'drawing', 'svg-compatible']
  .map((name) => `xmlns:${name.slice(0, 2)}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`)
  .join(' ');

/** An OpenDocument file, of which the prefixes are the first two letters: `of`, `te`, `ta`, `st`, `dr`, `sv`. */
export function odf(kind: 'text' | 'spreadsheet' | 'presentation', body: string, files: Files = {}): Buffer {
  return zipOf({
    mimetype: `application/vnd.oasis.opendocument.${kind}`,
    'content.xml': `<of:document-content ${ODF}>${body}</of:document-content>`,
    ...files,
  });
}

/** A page of a PDF document, in the syntax of PDF: what draws it, its resources beside the font `F`, and its notes. */
interface PdfPage {
  readonly content: string;
  readonly resources?: string;
  readonly annotations?: string;
}

interface PdfOptions {
  /** Further objects, numbered from 4 on; a stream has its bytes as Latin-1. */
  readonly objects?: readonly string[];
  /** Entries of the catalogue and the trailer. */
  readonly catalog?: string;
  readonly trailer?: string;
}

/** A stream of PDF. */
export const stream = (data: string, entries = ''): string =>
  `<< ${entries} /Length ${data.length} >>\nstream\n${data}\nendstream`;

/** The operators that show a text in the font `F`. */
export const showText = (text: string): string => `BT /F 12 Tf 50 700 Td (${text}) Tj ET`;

export function pdfOf(
  pages: readonly PdfPage[],
  { objects = [], catalog = '', trailer = '' }: PdfOptions = {},
): Buffer {
  const first = 4 + objects.length;
  const all = [
    `<< /Type /Catalog /Pages 2 0 R ${catalog} >>`,
    `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, at) => `${first + 2 * at} 0 R`).join(' ')}] >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...objects,
    ...pages.flatMap(({ content, resources = '', annotations = '' }, at) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents ${first + 2 * at + 1} 0 R /Annots [${annotations}]
        /Resources << /Font << /F 3 0 R >> ${resources} >> >>`,
      stream(content),
    ]),
  ];
  let file = '%PDF-1.7\n';
  const offsets = all.map((object, at) => {
    const offset = file.length;
    file += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, '0')} 00000 n \n`;
  });
  const table = `xref\n0 ${all.length + 1}\n0000000000 65535 f \n${offsets.join('')}`;
  const end = `trailer\n<< /Size ${all.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n${file.length}\n%%EOF\n`;
  return Buffer.from(file + table + end, 'latin1');
}
