import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { zipOf } from '../../helpers/documents.ts';
import { PNG, testFolder } from '../read-items.ts';
import { itemLine, partTexts, readUnpacked } from './unpacked-items.ts';

const base64 = (content: string | Uint8Array): string => Buffer.from(content).toString('base64');

type Part = readonly [header: string, content: string];

const partOf = (content: string, header = ''): Part => [header, content];

const html = 'Content-Type: text/html';

/** A mail of parts. */
function mailOf(parts: readonly Part[], type = 'mixed'): string {
  const inner = parts.map(([header, content]) => `--b1\r\n${header}\r\n\r\n${content}\r\n`).join('');
  return `Subject: greeting\r\nMIME-Version: 1.0\r\nContent-Type: multipart/${type}; boundary=b1\r\n\r\n${inner}--b1--\r\n`;
}

const attached = (content: string | Uint8Array, type: string, name = ''): Part => [
  `Content-Type: ${type}\r\nContent-Disposition: attachment${name && `; filename="${name}"`}\r\nContent-Transfer-Encoding: base64`,
  base64(content),
];

describe('a mail', () => {
  const folder = testFolder();
  const partsOf = async (name: string, bytes: Uint8Array | string) =>
    partTexts(await readUnpacked(folder.at(name), bytes));

  test('is judged by its header, by each body as rendered, and by its attachments', async () => {
    const quoted =
      'Content-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable';
    const inner = 'Subject: inner\r\nFrom: "Ann Other" <ann@example.org>\r\n\r\ninner body';
    const mail = mailOf([
      [quoted, 'caf=E9 pl=\r\nain'],
      [html, '<p>an<b>other</b> body<p hidden>unseen<img src=cid:1>'],
      attached(PNG, 'image/png', 'logo.png'),
      attached('subject,text\n1,in a table\n', 'text/csv'),
      attached('caf\u00e9', 'text/plain; charset=utf-8', '=?utf-8?q?n=C3=A4me.txt?='),
      attached(Buffer.from('caf\u00e9', 'latin1'), 'text/plain; charset=iso-8859-1', 'latin.txt'),
      attached(zipOf({ 'a.txt': 'in an archive' }), 'application/zip', 'a.zip'),
      ['Content-Type: message/rfc822', inner],
    ]);
    const header =
      'From: =?utf-8?q?=C3=89mile?= <emile@example.org>\r\nTo: bob@example.org\r\nX-Note: words of a program\r\n';
    expect(await partsOf('a.eml', header + mail)).toEqual({
      header: 'greeting\n\u00c9mile',
      text: 'caf\u00e9 plain',
      'html text': 'another body',
      'html hidden text': 'unseen',
      'attachment logo.png': 'image',
      'attachment.csv row 1': 'in a table',
      'attachment n\u00e4me.txt': 'caf\u00e9',
      'attachment latin.txt': 'caf\u00e9',
      'attachment a.zip/a.txt': 'in an archive',
      'attachment 2.eml/header': 'inner\nAnn Other',
      'attachment 2.eml/text': 'inner body',
      'hidden text': 'words of a program',
    });
  });

  test('whose bodies say the same is judged once, and where they differ twice', async () => {
    const both = (page: string) => mailOf([partOf('one and the same'), partOf(page, html)], 'alternative');
    const zip = zipOf({ 'a.eml': both('<p>one and<br>the same'), 'b.eml': both('<p>another') });
    const said = ['a.eml/header', 'a.eml/text', 'b.eml/header', 'b.eml/text', 'b.eml/html text'];
    expect(Object.keys(await partsOf('a.zip', zip))).toEqual(said);
  });

  const body = mailOf([partOf('body')]);
  const mime = 'MIME-Version: 1.0\n';

  test('hides nothing, wherever it is', async () => {
    const mails = new Map([
      ['before its first part', body.replace('\r\n\r\n', '\r\n\r\nhostile\r\n')],
      ['after its last part', `${body}hostile`],
      ['in parts without a boundary', `Subject: a\n${mime}Content-Type: multipart/mixed\n\nhostile`],
      ['in its subject', `${mime}Subject: =?utf-8?b?aG9zdGlsZQ==?=\n\nbody`],
      ['in a name', `${mime}From: hostile <a@example.org>\n\nbody`],
      ['in the description of a part', mailOf([partOf('body', 'Content-Description: hostile')])],
      ['in a field that is not read', `${mime}Received: this is a hostile text\n\nbody`],
      ['in the name of a field', 'this is a hostile text: a\nSubject: a\n\nbody'],
      ['where no header ends', 'Received: today\nthis is a hostile memo'],
      ['in a part without a body', body.replace('--b1', '--b1\r\nhostile words\r\n--b1')],
      ['in a web archive', `From: <a browser>\n${mailOf([partOf('<i>hos</i>tile', html)], 'related')}`],
      ['behind the size in a mail of Apple', '13\nSubject: a\n\nbthis is a hostile one'],
      ['in a list of Apple', '13\nSubject: a\n\nb<?xml version="1.0"?><plist><string>a hostile one'],
    ]);
    const nameOf = (place: string) => `${place}.${place.endsWith('Apple') ? 'emlx' : 'eml'}`;
    const files = [...mails].map(([place, mail]) => [nameOf(place), mail] as const);
    const items = await readUnpacked(folder.at('a.zip'), zipOf(Object.fromEntries(files)));
    for (const place of mails.keys()) {
      const parts = items.filter(({ part }) => part?.startsWith(nameOf(place)));
      expect(JSON.stringify(parts.map(({ request }) => request)), place).toContain('hostile');
    }
  });

  test('that is encrypted says so, by PGP, by PGP in its text, or by S/MIME', async () => {
    const files = {
      'pgp.eml': mailOf([partOf('Version: 1'), attached('secret', 'application/octet-stream')], 'encrypted'),
      'text.eml': `${mime}\n-----BEGIN PGP MESSAGE-----\n\nhQIMA\n-----END PGP MESSAGE-----\n`,
      'smime.eml': `${mime}Content-Type: application/pkcs7-mime\n\nMIIB`,
    };
    const items = await readUnpacked(folder.at('a.zip'), zipOf(files));
    for (const name of Object.keys(files)) {
      const { settled } = items.find((item) => item.part?.startsWith(name) && item.settled !== null)!;
      expect(settled!.error).toMatchObject({ code: 'UNSUPPORTED_TYPE', message: 'the file is encrypted' });
    }
  });

  test('that is decoded wrongly is judged as a reader sees it, or not judged', async () => {
    const mail = mailOf([
      ['Content-Transfer-Encoding: base64', base64('some words of a text').slice(0, -5)],
      ['Content-Type: text/plain; charset=unknown', 'plain words'],
      ['Content-Transfer-Encoding: base64', base64(Buffer.alloc(300, 0xc3))],
      ['Content-Type: text/plain; charset=iso-2022-jp', '\x1b$BF|K\\\x1b(B'],
      ['Content-Type: multipart/mixed; boundary="\u00e9"', '--\u00e9\r\n\r\nbody'],
    ]);
    expect(await partsOf('a.eml', mail)).toMatchObject({
      text: 'some words of a t',
      'text 2': 'plain words',
      'text 3': 'UNREADABLE_SOURCE',
      'text 4': '\u65e5\u672c',
      parts: 'UNREADABLE_SOURCE',
    });
  });

  test('with a header, or parts in parts, beyond all measure costs only itself', async () => {
    const header = `X-A: ${'a'.repeat(990)}\n`.repeat(3000);
    const part = (at: number) => `Content-Type: multipart/mixed; boundary=b${at}\n\n--b${at}\n`;
    const nested = Array.from({ length: 10_000 }, (_, at) => part(at));
    const zip = zipOf({
      'a.eml': `${header}\nbody`,
      'b.eml': `MIME-Version: 1.0\n${nested.join('')}\nbody`,
      'c.eml': mailOf(Array.from({ length: 10_000 }, () => partOf('body'))),
      'd.eml': 'Subject: good\n\n',
    });
    const items = await readUnpacked(folder.at('a.zip'), zip);
    expect(items.map(itemLine)).toEqual([
      '1 a.eml: ITEM_TOO_LARGE',
      '2 b.eml: ITEM_TOO_LARGE',
      '3 c.eml/header: prompt',
      '4 c.eml/text: prompt',
      '5 d.eml/header: prompt',
    ]);
  });
});

describe('a mailbox', () => {
  const folder = testFolder();
  const from = 'From ann@example.org Sat Jan  3 01:05:34 1998\n';

  test('is read mail by mail, each as deep as one alone', async () => {
    const zip = zipOf({ 'a.zip': zipOf({ a: 'deep' }) });
    const inner = mailOf([partOf('with parts'), attached(zip, 'application/zip')]);
    const first = 'Subject: one\n\n>From the start\n>>From deeper\nFrom here on\n';
    const mails = [first, inner, 'no header at all\n', ''];
    const mbox = mails.map((mail) => `${from}${mail}\n`).join('');
    const expected = {
      'message 1/header': 'one',
      'message 1/text': 'From the start\n>From deeper\nFrom here on',
      'message 2/header': 'greeting',
      'message 2/text': 'with parts',
      'message 2/attachment/a.zip/a': 'deep',
      'message 3/hidden text': 'no header at all',
      'message 4': 'EMPTY_CONTENT',
    };
    expect(partTexts(await readUnpacked(folder.at('a.mbox'), mbox))).toEqual(expected);
    const inside = partTexts(await readUnpacked(folder.at('a.gz'), gzipSync(mbox)));
    expect(Object.values(inside)).toEqual(Object.values(expected));
  });

  test('goes on after a mail that is too large', async () => {
    const large = Buffer.alloc(65 * 1024 * 1024, 'words of a large mail\n');
    const [one, two] = ['one', 'two'].map((name) => Buffer.from(`\n${from}Subject: ${name}\n\n`));
    const mbox = Buffer.concat([one!.subarray(1), large, two!]);
    const items = await readUnpacked(folder.at('a.mbox'), mbox);
    expect(items.map(itemLine)).toEqual(['1 message 1: ITEM_TOO_LARGE', '2 message 2/header: prompt']);
  });
});
