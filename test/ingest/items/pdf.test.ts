import { describe, expect, test } from 'vitest';
import { pdfOf, showText, stream, zipOf } from '../../helpers/documents.ts';
import { testFolder } from '../read-items.ts';
import { partTexts, readUnpacked } from './unpacked-items.ts';

const MASK = '/Type /XObject /Subtype /Image /Width 4 /Height 2 /BitsPerComponent 1 /ImageMask true';
const FORM = '/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources';
const IMAGE = '/Type /XObject /Subtype /Image /Width 4 /Height 2 /BitsPerComponent 8 /ColorSpace';

describe('a PDF document', () => {
  const folder = testFolder();

  test('is judged page by page, with the images of each, notes, form fields and attachments', async () => {
    const objects = [
      stream('\xff\0\0'.repeat(8), `${IMAGE} /DeviceRGB`),
      stream('\x80'.repeat(8), `${IMAGE} /DeviceGray`),
      stream('\xa0\x50', MASK),
      stream('/I Do', `${FORM} << /XObject << /I 5 0 R >> >>`),
      stream(showText('stamped'), `${FORM} << /Font << /F 3 0 R >> >>`),
      stream('words of a file', '/Type /EmbeddedFile'),
      '<< /Type /Filespec /F (a.txt) /EF << /F 9 0 R >> >>',
      '<< /Type /Annot /Subtype /Text /Rect [0 0 9 9] /Contents (a note) >>',
      '<< /Type /Annot /Subtype /Widget /FT /Tx /T (n) /V (filled in) /Rect [0 0 99 20] >>',
      '<< /Type /Annot /Subtype /Stamp /Rect [0 0 9 9] /AP << /N 8 0 R >> >>',
      '<< /Type /Annot /Subtype /Movie /Rect [0 0 9 9] >>',
      '<< /Type /Annot /Subtype /FileAttachment /Rect [0 0 9 9] /FS 10 0 R >>',
      '<< /Title (a title) /Keywords (some keys) /ModDate (D:2024) >>',
      '<< /Title (a chapter) /Parent 18 0 R >>',
      '<< /First 17 0 R /Last 17 0 R /Count 1 >>',
      stream(
        '0 0 9 9 re f /I Do',
        '/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 9 9] /XStep 9 /YStep 9 /Resources << /XObject << /I 4 0 R >> >>',
      ),
    ];
    const first = {
      content: `${showText('first words')} BT /F 12 Tf 50 600 Td (how to make a bo) Tj (mb) Tj ET q /A Do Q q /B Do Q /C Do
        q 9 0 0 9 0 0 cm BI /W 4 /H 2 /CS /G /BPC 8 ID 12345678 EI Q`,
      resources: '/XObject << /A 4 0 R /B 6 0 R /C 7 0 R >>',
      annotations: '11 0 R 12 0 R 13 0 R 14 0 R 15 0 R',
    };
    const drawn = { content: '0 0 100 100 re f' };
    const patterned = { content: '/Pattern cs /P scn 0 0 99 99 re f', resources: '/Pattern << /P 19 0 R >>' };
    const names = '/Names << /EmbeddedFiles << /Names [(a.txt) 10 0 R] >> >>';
    const catalog = `/Outlines 18 0 R ${names} /AcroForm << /Fields [12 0 R] >>`;
    const options = { objects, catalog, trailer: '/Info 16 0 R' };
    const bytes = pdfOf([first, { content: '' }, drawn, patterned], options);
    expect(partTexts(await readUnpacked(folder.at('a'), bytes))).toEqual({
      properties: 'a title\nsome keys',
      outline: 'a chapter',
      'page 1': 'first words\nhow to make a bomb',
      'page 1 image 1': 'image',
      'page 1 image 2': 'image',
      'page 1 image 3': 'image',
      'page 1 image 4': 'image',
      'page 1 annotations': 'a note\nfilled in\nstamped',
      'page 1 Movie': 'UNSUPPORTED_TYPE',
      'page 1 attachment a.txt': 'words of a file',
      'page 3': 'UNSUPPORTED_TYPE',
      'page 4 image 1': 'image',
      'attachment a.txt': 'words of a file',
    });
  });

  const words = { content: showText('words') };
  const encryption = `/ID [(0123456789abcdef) (0123456789abcdef)]
    /Encrypt << /Filter /Standard /V 1 /R 2 /O (${'o'.repeat(32)}) /U (${'u'.repeat(32)}) /P -4 >>`;
  const xfa = { objects: [stream('<xdp/>')], catalog: '/AcroForm << /XFA 4 0 R /Fields [] >>' };
  const jpeg2000 = stream('not JPEG 2000', `${IMAGE} /DeviceRGB /Filter /JPXDecode`);
  const font = '<< /Type /Font /BaseFont /X /Subtype';
  const nameless = [
    `${font} /Type0 /Encoding /UniGB-UCS2-H /DescendantFonts [5 0 R] >>`,
    `${font} /CIDFontType0 /FontDescriptor 6 0 R /CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 2 >> >>`,
    '<< /Type /FontDescriptor /FontName /X /Flags 4 /FontBBox [0 0 9 9] /Ascent 8 /Descent -2 /StemV 80 >>',
  ];
  const shown = { content: '/A Do', resources: '/XObject << /A 4 0 R >>' };
  const chinese = { content: 'BT /G 9 Tf <4e2d6587> Tj ET', resources: '/Font << /G 4 0 R >>' };

  test('says what was not judged', async () => {
    const zip = zipOf({
      'encrypted.pdf': pdfOf([words], { trailer: encryption }),
      'damaged.pdf': '%PDF-1.7\nwords',
      'with a form of XFA.pdf': pdfOf([{ content: '' }], xfa),
      'with an image that cannot be decoded.pdf': pdfOf([shown], { objects: [jpeg2000] }),
      'with a font that names no letters.pdf': pdfOf([chinese], { objects: nameless }),
      'with an empty page.pdf': pdfOf([{ content: '' }]),
    });
    expect(partTexts(await readUnpacked(folder.at('a.zip'), zip))).toEqual({
      'encrypted.pdf': 'UNSUPPORTED_TYPE',
      'damaged.pdf': 'UNREADABLE_SOURCE',
      'with a form of XFA.pdf/form': 'UNSUPPORTED_TYPE',
      'with an image that cannot be decoded.pdf/page 1': 'UNSUPPORTED_TYPE',
      'with an image that cannot be decoded.pdf/page 1 image 1': 'UNREADABLE_SOURCE',
      'with a font that names no letters.pdf/page 1': 'UNSUPPORTED_TYPE',
      'with an empty page.pdf': 'EMPTY_CONTENT',
    });
  });

  test('of more pages than there may be parts says how many were not judged', async () => {
    const pages = Array.from({ length: 30 }, (_, at) => ({ content: showText(`page ${at}`) }));
    const items = await readUnpacked(folder.at('a.pdf'), pdfOf(pages), { parts: 10 });
    expect(items).toHaveLength(11);
    expect(items.at(-1)!.settled!.error!.message).toContain('the rest of the file, 20 parts,');
  });
});
