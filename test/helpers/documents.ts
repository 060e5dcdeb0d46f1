import { strToU8, zipSync } from 'fflate';

export type Files = Readonly<Record<string, string | Uint8Array>>;

/** A ZIP archive of the files, in this order. */
export function zipOf(files: Files): Buffer {
  const entries = Object.entries(files).map(
    ([name, content]) => [name, typeof content === 'string' ? strToU8(content) : content] as const,
  );
  return Buffer.from(zipSync(Object.fromEntries(entries)));
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
