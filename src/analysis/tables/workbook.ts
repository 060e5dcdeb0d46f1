import { setImmediate } from 'node:timers/promises';
import { constants, deflateRawSync } from 'node:zlib';
import { strToU8, Zip, ZipPassThrough } from 'fflate';
import { escapeLine } from '../../domain/text/escape-text.ts';
import { flaggedCsv } from '../../files/run-files.ts';
import type { FlaggedColumn } from './table-columns.ts';

export type WorkbookCell = string | number | null;

export type WorkbookRow = readonly WorkbookCell[];

/** The most severe of a run's flagged items. */
interface FlaggedRows {
  readonly batches: AsyncIterable<readonly WorkbookRow[]>;
  /** Rows in all batches. */
  readonly rows: number;
  /** Flagged items of the run. */
  readonly total: number;
}

/** UTF-16 units in a cell; Excel takes 32,767. */
const MAX_CELL_UNITS = 1000;

/** Rows that are compressed at a time, which takes a few milliseconds before other work gets its turn. */
const ROWS_AT_ONCE = 50;

/** Characters that XML or a screen cannot show, and those that reorder text. */
const UNSAFE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu;

/** A string of only these characters needs no escapes. */
const PLAIN = /^[ !#-%'-;=?-^`-~]*$/;

/** Spreadsheets read this as the character with that code. */
const CHARACTER_CODE = /_(?=x[0-9a-f]{4}_)/giu;
const ESCAPED_UNDERSCORE = '_x005F_';

/** Positions in `cellXfs` of the styles below. */
const STYLES = { head: 1, score: 2, time: 3 } as const;

const DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const DOCUMENT = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** The files of a workbook (ECMA-376, SpreadsheetML) that are always the same. */
const PARTS: Readonly<Record<string, string>> = {
  '[Content_Types].xml': `<Types xmlns="${PACKAGE}/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Override PartName="/xl/workbook.xml" ContentType="${TYPE}.sheet.main+xml"/>
<Override PartName="/xl/styles.xml" ContentType="${TYPE}.styles+xml"/>
<Override PartName="/xl/worksheets/sheet1.xml" ContentType="${TYPE}.worksheet+xml"/>
<Override PartName="/xl/worksheets/sheet2.xml" ContentType="${TYPE}.worksheet+xml"/>
</Types>`,
  '_rels/.rels': relationships(['officeDocument', 'xl/workbook.xml']),
  'xl/workbook.xml': `<workbook ${MAIN} xmlns:r="${DOCUMENT}"><sheets>
<sheet name="Flagged items" sheetId="1" r:id="rId1"/><sheet name="About" sheetId="2" r:id="rId2"/>
</sheets></workbook>`,
  'xl/_rels/workbook.xml.rels': relationships(
    ['worksheet', 'worksheets/sheet1.xml'],
    ['worksheet', 'worksheets/sheet2.xml'],
    ['styles', 'styles.xml'],
  ),
  'xl/styles.xml': `<styleSheet ${MAIN}>
<numFmts count="2"><numFmt numFmtId="164" formatCode="0.000"/>
<numFmt numFmtId="165" formatCode="yyyy-mm-dd hh:mm:ss"/></numFmts>
<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>
<fills count="3"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill>
<fill><patternFill patternType="solid"><fgColor rgb="FFE8E8E8"/></patternFill></fill></fills>
<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>
<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>
<cellXfs count="4"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>
<xf numFmtId="0" fontId="1" fillId="2" borderId="0" xfId="0" applyFont="1" applyFill="1" applyAlignment="1">
<alignment vertical="top" wrapText="1"/></xf>
<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>
<xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs>
<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>
</styleSheet>`,
};

/**
 * Writes a workbook with the most severe of a run's flagged items, piece by piece, which keeps memory small and the
 * event loop responsive. Numbers and times are typed as such; strings stay strings whatever they begin with, and
 * nothing is a link.
 */
export async function writeWorkbook(
  columns: readonly FlaggedColumn[],
  { batches, rows, total }: FlaggedRows,
  write: (pieces: readonly Buffer[]) => Promise<void>,
): Promise<void> {
  const pieces: Buffer[] = [];
  const zip = new Zip((error, piece) => {
    if (error !== null) throw error;
    pieces.push(Buffer.from(piece));
  });
  const add = async (name: string, texts: AsyncIterable<string> | Iterable<string>): Promise<void> => {
    const entry = new ZipDeflated(name);
    zip.add(entry);
    entry.push(strToU8(DECLARATION));
    for await (const text of texts) {
      entry.push(strToU8(text));
      await write(pieces.splice(0));
      await setImmediate();
    }
    entry.push(new Uint8Array(), true);
  };
  for (const [name, text] of Object.entries(PARTS)) await add(name, [text]);
  await add('xl/worksheets/sheet1.xml', itemSheet(columns, batches));
  await add('xl/worksheets/sheet2.xml', [aboutSheet(rows, total)]);
  zip.end();
  await write(pieces);
}

/**
 * A file of a zip archive, compressed by zlib. Each piece ends on a byte boundary, so pieces are compressed
 * independently.
 */
class ZipDeflated extends ZipPassThrough {
  override compression = 8;

  override process(piece: Uint8Array, isLast: boolean): void {
    const finishFlush = isLast ? constants.Z_FINISH : constants.Z_SYNC_FLUSH;
    this.ondata(null, deflateRawSync(piece, { level: 1, finishFlush }), isLast);
  }
}

/** The sheet of the items, in pieces. */
async function* itemSheet(
  columns: readonly FlaggedColumn[],
  batches: FlaggedRows['batches'],
): AsyncGenerator<string, void> {
  yield sheetStart(
    columns.map(({ width }) => width),
    FROZEN_HEAD,
  );
  let line = 1;
  yield rowXml(
    line,
    columns.map(({ title }) => textCell(title, STYLES.head)),
  );
  for await (const batch of batches) {
    for (let from = 0; from < batch.length; from += ROWS_AT_ONCE) {
      const rows = batch.slice(from, from + ROWS_AT_ONCE).map((row) => {
        return rowXml(
          ++line,
          row.map((cell, index) => cellXml(cell, columns[index]!)),
        );
      });
      yield rows.join('');
    }
  }
  yield SHEET_END;
}

function aboutSheet(rows: number, total: number): string {
  const number = (value: number): string => value.toLocaleString('en-US');
  const lines: readonly (readonly [name: string, text: string])[] = [
    ['Rows', `${number(rows)} of ${number(total)}, the most severe first`],
    ['More rows', rows === total ? 'None' : `${number(total - rows)}, in ${flaggedCsv(1)}`],
    ['Not listed', 'Items that may show children in sexual contexts: restricted.csv'],
    ['Columns', 'docs/reading-runs.md of guardsweep explains them'],
  ];
  const cells = lines.map(([name, text]) => [textCell(name, STYLES.head), textCell(text)]);
  return `${sheetStart([16, 90])}${cells.map((row, index) => rowXml(index + 1, row)).join('')}${SHEET_END}`;
}

const FROZEN_HEAD = '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>';

/** The XML of a sheet up to its rows. */
function sheetStart(widths: readonly number[], pane = ''): string {
  const columns = widths.map(
    (width, index) => `<col min="${index + 1}" max="${index + 1}" width="${width}" customWidth="1"/>`,
  );
  return `<worksheet ${MAIN}><sheetViews><sheetView workbookViewId="0">${pane}</sheetView></sheetViews>
<cols>${columns.join('')}</cols><sheetData>`;
}

const SHEET_END = '</sheetData></worksheet>';

/** Renders a cell as XML; `place` is its address, such as `A1`. */
type Cell = (place: string) => string;

function rowXml(line: number, cells: readonly (Cell | null)[]): string {
  const texts = cells.map((cell, index) => cell?.(`${columnLetters(index)}${line}`) ?? '');
  return `<row r="${line}">${texts.join('')}</row>`;
}

function columnLetters(index: number): string {
  const last = String.fromCharCode(65 + (index % 26));
  return index < 26 ? last : columnLetters(Math.floor(index / 26) - 1) + last;
}

function cellXml(cell: WorkbookCell, { format }: FlaggedColumn): Cell | null {
  if (cell === null) return null;
  if (typeof cell === 'number') return numberCell(cell, format === 'score' ? STYLES.score : 0);
  const time = format === 'time' ? Date.parse(`${cell.replace(' ', 'T')}Z`) : NaN;
  // Excel counts days from 1899-12-30.
  return Number.isNaN(time) ? textCell(cell) : numberCell(time / 86_400_000 + 25_569, STYLES.time);
}

function numberCell(value: number, style: number): Cell {
  return (place) => `<c r="${place}" s="${style}"><v>${value}</v></c>`;
}

function textCell(value: string, style = 0): Cell {
  const cut = value.length > MAX_CELL_UNITS ? `${value.slice(0, MAX_CELL_UNITS)}…` : value;
  const text = PLAIN.test(cut) ? cut : escapeCell(cut);
  return (place) =>
    `<c r="${place}" s="${style}" t="inlineStr"><is><t xml:space="preserve">${text}</t></is></c>`;
}

function escapeCell(text: string): string {
  return text
    .replaceAll(UNSAFE, escapeLine)
    .replaceAll(/[\ufffe\uffff]/g, '\ufffd')
    .replaceAll(CHARACTER_CODE, ESCAPED_UNDERSCORE)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}

function relationships(...targets: readonly (readonly [type: string, target: string])[]): string {
  const all = targets.map(
    ([type, target], index) =>
      `<Relationship Id="rId${index + 1}" Type="${DOCUMENT}/${type}" Target="${target}"/>`,
  );
  return `<Relationships xmlns="${PACKAGE}/relationships">${all.join('')}</Relationships>`;
}
