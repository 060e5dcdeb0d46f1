import { isUtf8 } from 'node:buffer';
import { pipeline } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { Headers, type MimeNode, Splitter, type SplitterChunk } from '@zone-eu/mailsplit';
import libmime from 'libmime';
import { decodeMarkup, unpackMarkup } from './html.ts';
import { headerText, wordsOf } from './mail-header.ts';
import { renderMarkup } from './render-markup.ts';
import { bytesOf, fileInside, type Unpacked, type Unpacker } from './unpacker.ts';

/** Maximum parts of a mail, and maximum nesting depth. */
const MAX_NODES = 100_000;
const MAX_DEPTH = 256;
/** Size of the slices passed to the splitter, in bytes. */
const SLICE_BYTES = 64 * 1024;

/**
 * Unpacks a mail or a web archive: the visible text of its header, each body as rendered, text that no reader shows,
 * and each attachment.
 */
export const unpackMail: Unpacker = async function* (input) {
  yield* uniqueTexts(partsOf(await bytesOf(input)));
};

/** Merges bodies that differ only in white space. */
async function* uniqueTexts(parts: AsyncGenerator<Unpacked, void>): AsyncGenerator<Unpacked, void> {
  const known = new Set<string>();
  for await (const part of parts) {
    const words = 'text' in part ? part.text.replace(/\s+/g, '') : null;
    if (words !== null && known.has(words)) continue;
    if (words !== null) known.add(words);
    yield part;
  }
}

async function* partsOf(stored: Buffer): AsyncGenerator<Unpacked, void> {
  const { bytes, trailer } = withoutCount(stored);
  const mail = new Mail();
  try {
    yield* mail.read(bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EMAXLEN') throw error;
    yield { name: '', problem: 'mail-too-large', bytes: bytes.length };
    return;
  }
  const text = [...mail.hiddenTexts(), trailer].filter((each) => each !== '').join('\n');
  if (text !== '') yield { name: 'hidden text', text };
}

/**
 * Removes the byte count before one of Apple's mails (emlx) and the property list after it, whose words become the
 * `trailer`.
 */
function withoutCount(stored: Buffer): { readonly bytes: Buffer; readonly trailer: string } {
  const [line, count] = /^\s{0,9}(\d{1,9})\s{0,20}\n/.exec(stored.toString('latin1', 0, 64)) ?? [];
  if (line === undefined) return { bytes: stored, trailer: '' };
  const end = line.length + Number(count);
  const trailer = stored.toString('utf8', end).trim();
  if (trailer !== '' && !trailer.startsWith('<?xml'))
    return { bytes: stored.subarray(line.length), trailer: '' };
  return { bytes: stored.subarray(line.length, end), trailer: wordsOf(renderMarkup(trailer).text) };
}

const ENCRYPTED_TEXT = '-----BEGIN PGP MESSAGE-----';
/** Standard text that mail programs write before the first part. */
const PREAMBLE = /^[ \t]*this is a (?:multi-?part|cryptographically signed) message in mime format\.?/gim;
/** Boundary between parts that the library splits by. */
const BOUNDARY = /^[ -~]+$/;
/** Maximum fraction of characters that could not be decoded; text with more is damaged. */
const MAX_UNDECODABLE = 0.25;
/** Extensions by MIME type, for types that bytes alone may not identify. */
const ENDS: Readonly<Record<string, string>> = {
  'message/rfc822': '.eml',
  'message/global': '.eml',
  'text/html': '.html',
  'application/xhtml+xml': '.xhtml',
  'image/svg+xml': '.svg',
  'text/csv': '.csv',
};

/**
 * Reads the nodes of a mail, which are its parts and the nodes that contain them, and numbers parts of the same kind.
 */
class Mail {
  readonly #counts = new Map<string, number>();
  /** Nesting depth of the parts in a node; null if they are encrypted. */
  readonly #depths = new WeakMap<MimeNode, number | null>();
  readonly #delimiters = new Set<string>();
  readonly #around: Buffer[] = [];
  readonly #hidden: string[] = [];

  async *read(bytes: Buffer): AsyncGenerator<Unpacked, void> {
    const splitter = new Splitter({ ignoreEmbedded: true, maxChildNodes: MAX_NODES });
    pipeline(slicesOf(bytes), splitter, () => undefined);
    const chunks: AsyncIterable<SplitterChunk> = splitter;
    let node: MimeNode | null = null;
    const body: Buffer[] = [];
    for await (const chunk of chunks) {
      // The library drops a node whose header does not end. Its header is then in the separator line.
      const next: MimeNode = chunk.type === 'node' ? chunk : chunk.node;
      if (node !== null && node !== next) yield* this.#node(node, body.splice(0));
      node = next;
      if (chunk.type !== 'node') (chunk.type === 'body' ? body : this.#around).push(chunk.value);
    }
    if (node !== null) yield* this.#node(node, body);
  }

  /** Words in headers that readers do not see, and the text around parts. */
  hiddenTexts(): readonly string[] {
    const lines = Buffer.concat(this.#around)
      .toString()
      .split(/[\r\n]+/);
    const around = lines.filter((line) => !this.#delimiters.has(line.trim())).join('\n');
    return [...this.#hidden, around.replace(PREAMBLE, '').trim()];
  }

  async *#node(node: MimeNode, body: readonly Buffer[]): AsyncGenerator<Unpacked, void> {
    const depth = node.parentNode === false ? 0 : (this.#depths.get(node.parentNode) ?? null);
    // The library yields a node again with the text after its parts.
    if (depth === null || this.#depths.has(node)) return;
    // The library does not limit the depth.
    if (depth > MAX_DEPTH) throw Object.assign(new Error('too deep'), { code: 'EMAXLEN' });
    const headers = new Headers(node.getHeaders());
    const { params } = libmime.parseHeaderValue(headers.getFirst('Content-Type'), { stripComments: true });
    const boundary = params['boundary']?.trimEnd() ?? '';
    this.#delimiters.add(`--${boundary}`).add(`--${boundary}--`);
    const { shown, hidden } = headerText(headers);
    this.#hidden.push(hidden);
    if (shown !== '') yield { name: this.#label('header'), text: shown };
    const isSealed = isEncrypted(node, params['smime-type']);
    this.#depths.set(node, isSealed ? null : depth + 1);
    if (isSealed) yield { name: this.#label('encrypted'), problem: 'encrypted' };
    else if (node.multipart === false) {
      yield* this.#content(node, await buffer(node.getDecoder().end(Buffer.concat(body))));
      // Readers differ in what they show if parts cannot be separated.
    } else if (!BOUNDARY.test(boundary)) yield { name: this.#label('parts'), problem: 'damaged' };
  }

  async *#content(node: MimeNode, content: Buffer): AsyncGenerator<Unpacked, void> {
    const { contentType, charset, disposition, flowed, delSp } = node;
    if (
      disposition === 'attachment' ||
      (contentType !== false && !/^text\/(?:plain|html)$/.test(contentType))
    ) {
      yield await this.#attachment(node, content);
    } else if (contentType === 'text/html') {
      const markup = charset === false ? decodeMarkup(content) : await decode(content, charset);
      yield* unpackMarkup(markup, `${this.#label('html')} `);
    } else {
      const decoded = await decode(content, charset);
      const name = this.#label('text');
      const text = (flowed ? libmime.decodeFlowed(decoded, delSp) : decoded).replaceAll('\r\n', '\n').trim();
      if (text.includes(ENCRYPTED_TEXT)) yield { name, problem: 'encrypted' };
      if (text.split('\ufffd').length - 1 > text.length * MAX_UNDECODABLE) yield { name, problem: 'damaged' };
      else if (text !== '') yield { name, text };
    }
  }

  async #attachment({ contentType, charset, filename }: MimeNode, content: Buffer): Promise<Unpacked> {
    const type = contentType || '';
    const name = filename === false ? this.#label('attachment') : `attachment ${filename}`;
    const end = ENDS[type] ?? '';
    const isText = type.startsWith('text/') && type !== 'text/html' && !isUtf8(content);
    const bytes = isText && charset !== false ? Buffer.from(await decode(content, charset)) : content;
    return fileInside(name.toLowerCase().endsWith(end) ? name : name + end, bytes);
  }

  #label(kind: string): string {
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    return count === 1 ? kind : `${kind} ${count}`;
  }
}

/**
 * Whether a node is encrypted with S/MIME (RFC 8551) or PGP (RFC 3156). A signed S/MIME part is read like any other
 * file.
 */
function isEncrypted({ contentType, multipart }: MimeNode, smimeType?: string): boolean {
  if (/^application\/(?:x-)?pkcs7-mime$/.test(contentType || ''))
    return smimeType?.toLowerCase() !== 'signed-data';
  return multipart === 'encrypted';
}

function decode(content: Buffer, charset: string | false): Promise<string> {
  return text(libmime.createDecodeStream(charset || undefined).end(content));
}

function* slicesOf(bytes: Buffer): Generator<Buffer, void> {
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) yield bytes.subarray(at, at + SLICE_BYTES);
}
