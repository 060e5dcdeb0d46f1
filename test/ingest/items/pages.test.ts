import { describe, expect, test } from 'vitest';
import { zipOf } from '../../helpers/documents.ts';
import { PNG, testFolder } from '../read-items.ts';
import { partTexts, readUnpacked } from './unpacked-items.ts';

const URL = `data:image/png;base64,${PNG.toString('base64')}`;

describe('a page', () => {
  const folder = testFolder();
  const partsOf = async (name: string, bytes: Uint8Array | string) =>
    partTexts(await readUnpacked(folder.at(name), bytes));

  test('is judged as rendered, and what it hides as a part of its own', async () => {
    const page = `<!DOCTYPE html><html><head><title>A &amp; B</title><style>p::after { content: 'which a style sheet adds' }</style>
      <meta name="description" content="for search engines"><script>var code = 1; add("what a script's strings say");</script></head>
      <body><h1>Head  ing</h1><p>one<b>word</b>, b<!-- -->roken wo&shy;rd
      and <i>more</i></p><ul><li>first<li>second</ul><pre>  kept
  space</pre><table><tr><td>a<td>b</table>
      <p hidden>hidden one</p><p style="color:red; DISPLAY : none">hidden two</p><span style="font-size:0px">three</span>
      <div style="visibility:hidden"><p>four</p></div><span aria-hidden=true>an icon</span>
      <template>five</template><noscript>no script</noscript><!-- a comment --><!--[if mso]><p>for <b>one</b> program<![endif]-->
      <img alt="a picture" src=x title="a tooltip"><input value="typed" placeholder="hint"><input type=hidden value="six">
      <textarea>long
field</textarea><span style="font-size:0.8em; opacity: 0.5">small</span></body></html>`;
    expect(await partsOf('a.html', page)).toEqual({
      text: `A & B\nHead ing\noneword, broken word and more\nfirst\nsecond\n  kept\n  space\na b
an icon no script a picture typed hint\nlong\nfield\nsmall\na tooltip`,
      'hidden text':
        "which a style sheet adds\nfor search engines\nwhat a script's strings say\nhidden one\nhidden two\nthree\nfour\nan icon\nfive\nno script\na comment\nfor one program\nsix",
    });
  });

  test('holds images and other pages as files inside', async () => {
    const inner = '<p>in a <b>fr</b>ame</p>';
    const page = `<p>around</p><img src="${URL}"><div style="background:url('${URL}')"></div>
      <style>p { background: url(${URL}) }</style><iframe srcdoc="${inner.replaceAll('<', '&lt;')}"></iframe>
      <iframe src="data:text/html,%3Cp%3Ed%3Ci%3Eeep"></iframe><a href="data:text/plain,words">x</a><img src="data:,">`;
    expect(await partsOf('a.htm', page)).toEqual({
      text: 'around\nx',
      'image 1': 'image',
      'image 2': 'image',
      'image 3': 'image',
      'page 1.html/text': 'in a frame',
      'file 4.html/text': 'deep',
      'file 5': 'words',
      'file 6': 'EMPTY_CONTENT',
    });
  });

  test('that is a drawing says that its shapes are not judged', async () => {
    const svg = `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><title>name</title><desc>about</desc>
      <path d="M0 0"/><text>a <tspan>text</tspan></text><script/><text display="none">unseen</text>
      <foreignObject><p>markup</p></foreignObject><image href="${URL}"/><metadata>meta</metadata></svg>`;
    expect(await partsOf('a.svg', svg)).toEqual({
      text: 'name\nabout\na text\nmarkup',
      'hidden text': 'unseen\nmeta',
      drawing: 'UNSUPPORTED_TYPE',
      'image 1': 'image',
    });
  });

  test('is decoded from UTF-8, UTF-16, an encoding that it names and one that it does not name', async () => {
    const zip = zipOf({
      'utf-8': '<html><p>caf\u00e9',
      'utf-16': Buffer.from('\ufeff<html><p>caf\u00e9', 'utf16le'),
      named: Buffer.from('<html><meta charset="iso-8859-15"><p>caf\u00e9', 'latin1'),
      unknown: Buffer.from('<html><meta charset=unknown>caf\u00e9', 'latin1'),
    });
    const names = ['utf-8', 'utf-16', 'named', 'unknown'];
    const expected = Object.fromEntries(names.map((name) => [`${name}/text`, 'caf\u00e9']));
    expect(await partsOf('a.zip', zip)).toEqual(expected);
  });

  test('is found in archives, and hides nothing in what is read differently', async () => {
    const texts = [
      ...['<p/>hostile', '<script/>hostile', '<svg><style><p>hostile', '<![CDATA[hostile]]>', '<!hostile>'],
      ...['<?hostile?>', '<!doctype a [<!ENTITY b "hostile">]>', '<title>hostile', '<textarea>hostile'],
      ...['<xmp>hostile', '<plaintext>hostile', '<iframe>hostile</iframe>', '<!-- <!-- <b>hostile'],
      ...['<select><option label=hostile>', '<noframes>hostile', '<script>a</script hostile>hostile'],
    ];
    const files = Object.fromEntries(texts.map((text, at) => [`${at}.html`, text]));
    const zip = zipOf({ 'inner.zip': zipOf(files) });
    const items = await readUnpacked(folder.at('a.zip'), zip);
    for (const [at, text] of texts.entries()) {
      const parts = items.filter(({ part }) => part?.startsWith(`inner.zip/${at}.html`));
      expect(JSON.stringify(parts.map(({ request }) => request)), text).toContain('hostile');
    }
  });

  test('without text is an item that says so, and no image becomes a page by its name', async () => {
    expect(await partsOf('a.html', '<html><script>code()</script>')).toEqual({ '': 'EMPTY_CONTENT' });
    const parts = { 'a.html': 'EMPTY_CONTENT', 'b.html': 'image' };
    expect(await partsOf('b.zip', zipOf({ 'a.html': '<br>', 'b.html': PNG }))).toEqual(parts);
  });
});
