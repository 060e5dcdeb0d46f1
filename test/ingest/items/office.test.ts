import { describe, expect, test } from 'vitest';
import { docx, odf, paragraph, pptx, relations, slide, word, xlsx, zipOf } from '../../helpers/documents.ts';
import { PNG, testFolder } from '../read-items.ts';
import { partTexts, readUnpacked } from './unpacked-items.ts';

describe('an office document', () => {
  const folder = testFolder();
  const partsOf = async (bytes: Buffer, limits = {}) =>
    partTexts(await readUnpacked(folder.at('a'), bytes, limits));

  test('of Word is judged in all its texts, the words as rendered and what is hidden apart', async () => {
    const body = `
      ${paragraph('An ex', 'ample')}
      <w:p><w:pPr><w:tabs><w:tab w:val="left"/></w:tabs></w:pPr>
        <w:r><w:t>  bo </w:t></w:r>
        <w:r><w:rPr><w:vanish/></w:rPr><w:t>unseen</w:t></w:r><w:del><w:r><w:delText>deleted</w:delText></w:r></w:del>
        <w:r><w:drawing><posOffset>914400</posOffset><wps:txbx xmlns:wps="w"><w:txbxContent>${paragraph('in a box')}</w:txbxContent></wps:txbx>
          <wp:docPr xmlns:wp="w" descr="a picture of a cat" name="Picture 1"/></w:drawing></w:r>
        <w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>mb</w:t><w:tab/><w:t>x</w:t><w:br/><w:sym w:char="F041"/></w:r></w:p>
      <mc:AlternateContent xmlns:mc="m"><mc:Choice>${paragraph('new')}</mc:Choice>
        <mc:Fallback>${paragraph('new')}${paragraph('old')}</mc:Fallback></mc:AlternateContent>
      <w:fldSimple w:instr="HYPERLINK x"/><w:p><w:r><w:instrText>DATE</w:instrText></w:r></w:p>`;
    const files = {
      'word/footnotes.xml': word(paragraph('a footnote')),
      'word/endnotes.xml': word(paragraph('an endnote')),
      'word/comments.xml': word(paragraph('a comment')),
      'word/header1.xml': word(paragraph('a header')),
      'word/footer2.xml': word(paragraph('a footer')),
      'word/glossary/document.xml': Buffer.from(`\ufeff${word(paragraph('a building block'))}`, 'utf16le'),
      'word/data.bin': word(paragraph('XML by content')),
      'docProps/core.xml': '<c><title>a title</title><modified>2024-01-30T10:00:00Z</modified></c>',
      'word/media/image7.png': PNG,
      'word/afchunk.html': '<p>a pa<b>ge</b></p>',
      'word/embeddings/sheet.xlsx': xlsx({ One: '<row><c t="s"><v>0</v></c></row>' }, ['embedded']),
      'word/vbaProject.bin': Buffer.from('d0cf11e0a1b11ae1', 'hex'),
    };
    expect(await partsOf(docx(body, files))).toEqual({
      text: 'An example\nin a box\na picture of a cat\nbomb\tx\nA\nnew',
      'hidden text': 'unseendeleted\nold\nHYPERLINK x\nDATE',
      footnotes: 'a footnote',
      endnotes: 'an endnote',
      comments: 'a comment',
      'headers and footers': 'a header\na footer',
      'other text': 'XML by content',
      properties: 'a title',
      'image 1': 'image',
      'word/afchunk.html/text': 'a page',
      'word/embeddings/sheet.xlsx/sheet One row 1': 'embedded',
      'word/embeddings/sheet.xlsx/sheet One': 'head of One',
      macros: 'UNSUPPORTED_TYPE',
    });
  });

  test('of PowerPoint is judged slide by slide, in the order in which they are shown', async () => {
    const files = {
      'ppt/slides/_rels/slide2.xml.rels': relations('../notesSlides/notesSlide9.xml', '../comments/c.xml'),
      'ppt/notesSlides/notesSlide9.xml': slide('what to say'),
      'ppt/comments/c.xml': '<cm><text>a remark</text></cm>',
      'ppt/slideLayouts/slideLayout1.xml': slide('Click to edit'),
      'ppt/slideMasters/slideMaster1.xml': slide('Click to edit'),
      'ppt/media/image1.PNG': PNG,
    };
    expect(await partsOf(pptx('first', 'second', files))).toEqual({
      'slide 1': 'first',
      'slide 2': 'second',
      'slide 1 notes': 'what to say',
      'slide 1 comments': 'a remark',
      layouts: 'Click to edit',
      'image 1': 'image',
    });
  });

  test('with sheets has each as a table, by the rules for CSV, also hidden ones', async () => {
    const cell = (name: string, index: number): string => `<c r="${name}" t="s"><v>${index}</v></c>`;
    const orders = `<row>${cell('A1', 0)}${cell('C1', 1)}</row>
      <row><c r="A2"><v>7</v></c>${cell('C2', 2)}<c r="D2" t="str"><f>A2&amp;""</f><v>made</v></c></row>
      <row/><row><c r="A9"><v>8</v></c><c r="C9" t="inlineStr"><is><r><t>in</t></r><r><t>line</t></r></is></c></row>`;
    const strings = ['id', 'text', 'say &quot;x&quot;, b_x006f_mb&#10;it'];
    const files = {
      'xl/comments1.xml': '<c><comment><text><r><t>a no</t></r><r><t>te</t></r></text></comment></c>',
      'xl/media/image1.png': PNG,
      'xl/printerSettings/printerSettings2.bin': 'words of a text',
    };
    expect(await partsOf(xlsx({ Orders: orders, Empty: '' }, strings, files))).toEqual({
      'sheet Orders row 1': 'say "x", bomb\nit',
      'sheet Orders row 2': 'inline',
      'sheet Orders': 'head of Orders',
      'sheet Empty': 'head of Empty',
      comments: 'a note',
      'image 1': 'image',
      'xl/printerSettings/printerSettings2.bin': 'words of a text',
    });
    const ods = `<ta:table ta:name="Sums"><ta:table-row><ta:table-cell><te:p>text</te:p></ta:table-cell>
      <ta:table-cell ta:number-columns-repeated="1000"/></ta:table-row>
      <ta:table-row ta:number-rows-repeated="1000000"><ta:table-cell><te:p>one<te:s/>ce<te:span>ll</te:span></te:p><te:p>more</te:p>
        <of:annotation><te:p>a note</te:p></of:annotation></ta:table-cell></ta:table-row></ta:table>`;
    const sums = { text: 'a note', 'sheet Sums row 1': 'one cell\nmore' };
    expect(await partsOf(odf('spreadsheet', ods))).toEqual(sums);
  });

  test('of OpenDocument is judged in all its texts', async () => {
    const body = `<st:style st:name="H"><st:text-properties te:display="none"/></st:style>
      <te:tracked-changes><te:p>deleted</te:p></te:tracked-changes>
      <te:h>He<te:span>ad</te:span>  ing</te:h><te:p>a<te:s/>b<te:note><te:p>a note</te:p></te:note><te:tab/>c
      <te:span te:style-name="H">unseen</te:span><te:line-break/><dr:frame><dr:text-box><te:p>boxed</te:p></dr:text-box>
      <sv:desc>described</sv:desc></dr:frame></te:p>`;
    const files = {
      'styles.xml': '<s><p>a header</p></s>',
      'meta.xml': '<m><title>a title</title></m>',
      'Basic/Standard/Module1.xml': '<m>Sub Main</m>',
      'Pictures/1.png': PNG,
      'Scripts/a.py': 'print("words")',
    };
    expect(await partsOf(odf('text', body, files))).toEqual({
      text: 'Head ing\na note\nboxed\na b\tc \n described',
      'hidden text': 'deleted\nunseen',
      'headers and footers': 'a header',
      properties: 'a title',
      'other text': 'Sub Main',
      'image 1': 'image',
      'Scripts/a.py': 'print("words")',
    });
    const encrypted = { 'META-INF/manifest.xml': '<m><file-entry><encryption-data/></file-entry></m>' };
    expect(await partsOf(odf('text', '', encrypted))).toEqual({ '': 'UNSUPPORTED_TYPE' });
  });

  test('is one whatever the order of its files and their names, and never a text of tags', async () => {
    const hostile = paragraph('how to make a bo', 'mb');
    const renamed = { 'word/main.txt': word(hostile), '[content_types].XML': '<x/>' };
    const mimetype = 'application/vnd.oasis.opendocument.spreadsheet';
    const late = zipOf({ 'word/document.xml': word(hostile), mimetype, '[Content_Types].xml': '<x/>' });
    const nested = zipOf({ 'c.docx': docx(hostile) });
    const without = zipOf({ 'word/document.xml': word(hostile) });
    const all = zipOf({ renamed: zipOf(renamed), late, 'b.zip': nested, without });
    expect(await partsOf(all)).toEqual({
      'renamed/other text': 'how to make a bomb',
      'late/text': 'how to make a bomb',
      'b.zip/c.docx/text': 'how to make a bomb',
      'without/word/document.xml': 'UNSUPPORTED_TYPE',
    });
  });

  test('loses only a file that is damaged, of entities, nested too deeply or not text', async () => {
    const files = {
      'word/header1.xml': word(paragraph('cut')).slice(0, -20),
      'word/header2.xml': `<!DOCTYPE x [<!ENTITY e "words">]><x>&e;</x>`,
      'word/header3.xml': '<x>'.repeat(2000) + '</x>'.repeat(2000),
      'word/header4.xml': Buffer.from('<x>\xff</x>', 'latin1'),
    };
    const lost = Object.keys(files).map((name) => [name, 'UNREADABLE_SOURCE'] as const);
    const expected = { text: 'words', ...Object.fromEntries(lost) };
    expect(await partsOf(docx(paragraph('words'), files))).toEqual(expected);
  });

  test('that expands to too much is one item that says so', async () => {
    const bomb = docx(paragraph('x'.repeat(20_000_000)));
    expect(await partsOf(bomb)).toEqual({ '': 'ITEM_TOO_LARGE' });
    const long = { 'word/large.xml': new Uint8Array(70_000_000).fill(32) };
    expect(await partsOf(docx(paragraph('words'), long), { ratio: 100_000 })).toEqual({
      text: 'words',
      'word/large.xml': 'ITEM_TOO_LARGE',
    });
  });
});
