import { isUtf8 } from 'node:buffer';
import { chooseDecoder } from '../../encoding/decoder.ts';
import { renderMarkup } from './render-markup.ts';
import { bytesOf, fileInside, type Unpacked, type Unpacker } from './unpacker.ts';

/** Unpacks a page or a drawing: its text, its hidden text, and the files and pages inside it. */
export const unpackHtml: Unpacker = async function* (input) {
  yield* unpackMarkup(decodeMarkup(await bytesOf(input)));
};

/** Unpacks decoded markup. The name of each part begins with `prefix`. */
export async function* unpackMarkup(markup: string, prefix = ''): AsyncGenerator<Unpacked, void> {
  const { text, hidden, urls, pages, isDrawn } = renderMarkup(markup);
  if (text !== '') yield { name: `${prefix}text`, text };
  if (hidden !== '') yield { name: `${prefix}hidden text`, text: hidden };
  if (isDrawn) yield { name: `${prefix}drawing`, problem: 'drawing' };
  for (const [at, page] of pages.entries()) {
    yield fileInside(`${prefix}page ${at + 1}.html`, Buffer.from(page));
  }
  for (const [at, url] of urls.entries()) {
    const kind = typeOf(url).startsWith('image/') ? 'image' : 'file';
    yield await fileOf(url, `${prefix}${kind} ${at + 1}`);
  }
}

/** Decodes a `data:` URL. Gives it an extension if its type is markup, which its bytes alone may not show. */
async function fileOf(url: string, label: string): Promise<Unpacked> {
  const name = label + (/svg/.test(typeOf(url)) ? '.svg' : /html/.test(typeOf(url)) ? '.html' : '');
  try {
    // A `data:` URL needs no network.
    const response = await fetch(url);
    return fileInside(name, Buffer.from(await response.arrayBuffer()));
  } catch {
    return { name, problem: 'damaged' };
  }
}

function typeOf(url: string): string {
  return /^data:\s*([^;,]*)/i.exec(url)![1]!.trim().toLowerCase();
}

/** Number of bytes at the beginning in which markup may declare its encoding. */
const DECLARING_BYTES = 4096;
const DECLARED =
  /<meta\b[^>]{0,500}?\bcharset\s*=["'\s]*([\w:.-]+)|<\?xml\b[^>]{0,500}?\bencoding\s*=\s*["']([\w:.-]+)/i;

/** Decodes markup as browsers do: by its byte order mark, by its declaration, as UTF-8, or as Windows-1252. */
export function decodeMarkup(bytes: Buffer): string {
  const [, meta, xml] = DECLARED.exec(bytes.toString('latin1', 0, DECLARING_BYTES)) ?? [];
  const label = encodingOf(meta ?? xml) ?? (isUtf8(bytes) ? 'utf-8' : 'windows-1252');
  const decoder = chooseDecoder(label, bytes);
  return Buffer.concat([decoder.write(bytes), decoder.end()]).toString();
}

/** Treats a UTF-16 declaration as UTF-8: if it can be read, it is not in UTF-16. */
function encodingOf(label: string | undefined): string | null {
  try {
    const { encoding } = new TextDecoder(label ?? '-');
    return encoding.startsWith('utf-16') ? 'utf-8' : encoding;
  } catch {
    return null;
  }
}
