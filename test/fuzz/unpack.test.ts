import { join } from 'node:path';
import { strToU8, zipSync } from 'fflate';
import { expect, it } from 'vitest';
import type { Item } from '../../src/domain/item.ts';
import { temporaryFolder } from '../helpers/cli.ts';
import { odf, paragraph, pdfOf, relations, showText, stream, word, zipOf } from '../helpers/documents.ts';
import { readUnpacked } from '../ingest/items/unpacked-items.ts';
import { FILES, mutatedFile, numbers, SEED } from './mutations.ts';

const PAGE = `<!doctype html><meta charset=utf-8><title>a &amp; b</title><p hidden>unseen<table><tr><td>cell
  <img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" alt=x><iframe srcdoc="&lt;p>inside"></iframe><!--[if a]><b>c<![endif]-->`;
const SVG = `<?xml version="1.0" encoding="utf-8"?><svg><title>a</title><path d="M0 0"/><text>words<tspan>more</text></svg>`;
const MAIL = `Received: by a\r\nSubject: =?utf-8?q?w=C3=B6rds?=\r\nContent-Type: multipart/mixed; boundary="b"\r\n\r\n--b\r
Content-Transfer-Encoding: quoted-printable\r\n\r\nw=C3=B6rds =\r\nmore\r\n--b\r\nContent-Type: text/html; charset=latin1\r
\r\n<p>body\r\n--b\r\nContent-Type: message/rfc822\r\n\r\nSubject: a\r\n\r\ninner\r\n--b\r
Content-Disposition: attachment; filename*=utf-8''a%20b.txt\r\nContent-Transfer-Encoding: base64\r\n\r\nd29yZHM=\r\n--b--\r\n`;

const TYPES = { '[Content_Types].xml': '<Types/>' };
const WORD = { 'word/document.xml': word(`${paragraph('some', 'words')}<w:p><w:r><w:tab/></w:r></w:p>`) };
const SHEET =
  '<worksheet><sheetData><row><c r="A1" t="s"><v>0</v></c><c r="B1"><v>7</v></c></row></sheetData></worksheet>';
const BOOK = {
  'xl/workbook.xml': '<workbook><sheet name="One" id="r1"/></workbook>',
  'xl/_rels/workbook.xml.rels': relations('worksheets/sheet1.xml'),
  'xl/sharedStrings.xml': '<sst><si><t>words</t></si></sst>',
  'xl/worksheets/sheet1.xml': SHEET,
};
const ODS = odf(
  'spreadsheet',
  '<ta:table ta:name="a"><ta:table-row><ta:table-cell><te:p>x</te:p></ta:table-cell></ta:table-row></ta:table>',
);
const IMAGE = '/Type /XObject /Subtype /Image /Width 4 /Height 2 /BitsPerComponent 8 /ColorSpace /DeviceRGB';
const PDF = pdfOf(
  Array.from({ length: 3 }, (_, at) => ({
    content: `${showText(`words of page ${at}`)} q 9 0 0 9 0 0 cm /A Do Q`,
    resources: '/XObject << /A 4 0 R >>',
    annotations: '5 0 R',
  })),
  {
    objects: [
      stream('\xff\0\0'.repeat(8), IMAGE),
      '<< /Type /Annot /Subtype /Text /Rect [0 0 9 9] /Contents (a note) >>',
      '<< /Title (a title) >>',
    ],
    trailer: '/Info 6 0 R',
  },
);

/** Files of each kind that are read. */
const KINDS: readonly (readonly [name: string, file: Uint8Array])[] = [
  ['a.zip', zipSync({ 'a.txt': strToU8('words '.repeat(100)), 'b.csv': strToU8('text\nwords\n') })],
  ['a.docx', zipOf({ ...TYPES, ...WORD }, 0)],
  ['a.xlsx', zipOf({ ...TYPES, ...BOOK }, 0)],
  ['a.ods', ODS],
  ['a.pdf', PDF],
  ['a.html', strToU8(PAGE)],
  ['a.svg', strToU8(SVG)],
  ['a.eml', strToU8(MAIL)],
  ['a.mbox', strToU8(`From a Sat Jan  3 01:05:34 1998\r\n${MAIL}\r\n`.repeat(3))],
  ['a.emlx', strToU8(`${MAIL.length}\n${MAIL}<?xml version="1.0"?><plist><string>words</string></plist>`)],
];

/** Files that are read together, in an archive: most of the time is the start of a process. */
const TOGETHER = 50;

it.each(KINDS)(
  `reads %s damaged in ${FILES} ways to an end (FUZZ_SEED=${SEED})`,
  async (name, file) => {
    const folder = await temporaryFolder();
    const pick = numbers(SEED);
    const ends = new Map<string, number>();
    const count = (items: readonly Item[]): void => {
      for (const { settled } of items) {
        const end = settled?.error?.code ?? 'read';
        expect(end).not.toBe('INTERNAL');
        ends.set(end, (ends.get(end) ?? 0) + 1);
      }
    };
    for (let from = 0; from < FILES; from += TOGETHER) {
      const damaged = Array.from({ length: Math.min(TOGETHER, FILES - from) }, () =>
        Buffer.from(mutatedFile([Buffer.from(file)], pick)),
      );
      const entries = damaged.map((bytes, at) => [`${at} ${name}`, bytes] as const);
      const items = await readUnpacked(join(folder, 'a.zip'), zipSync(Object.fromEntries(entries)));
      const isWhole = items.every(({ part }) => part !== null);
      for (const [at, bytes] of damaged.entries()) {
        const own = isWhole
          ? items.filter(({ part }) => part!.startsWith(`${at} `))
          : await readUnpacked(join(folder, name), bytes);
        expect(own.length).toBeGreaterThan(0);
        count(own);
      }
    }
    console.info(`seed ${SEED}, ${name}:`, Object.fromEntries(ends));
  },
  60_000 + FILES * 1_000,
);
