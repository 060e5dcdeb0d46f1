import { isUtf8 } from 'node:buffer';
import PostalMime, { decodeWords } from 'postal-mime';
import { decodeMarkup, unpackMarkup } from './html.ts';
import { headerText, wordsOf } from './mail-header.ts';
import { renderMarkup } from './render-markup.ts';
import { bytesOf, fileInside, type Unpacked, type Unpacker } from './unpacker.ts';

/** A part of a mail, as the library has it once the mail is parsed. */
interface MimeNode {
  readonly contentType: {
    readonly parsed: { readonly value: string; readonly params: Readonly<Record<string, string>> };
    readonly multipart: string | false;
  };
  readonly contentDisposition: MimeNode['contentType'];
  readonly headers: readonly { readonly key: string; readonly value: string }[];
  readonly rawHeaderLines: readonly { readonly line: string }[];
  /** Decoded content; for a multipart node, the text around its parts. */
  readonly content: ArrayBuffer | null;
  readonly childNodes: readonly MimeNode[];
  /** The content, decoded by its character set. */
  getTextContent(): string;
}

/**
 * The tree of a mail. What the library offers besides it joins bodies into one, and leaves out what is around the parts of
 * a mail, so that step is left out.
 */
class MimeTree extends PostalMime {
  declare readonly root: MimeNode;

  protected collectNode(): void {}
}

/** A mail or a web archive: what its header shows, each body as rendered, what no reader shows, and each attachment. */
export const unpackMail: Unpacker = async function* (input) {
  yield* uniqueTexts(partsOf(await bytesOf(input)));
};

/** Bodies that differ only in their white space are one. */
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
  const tree = new MimeTree();
  try {
    await tree.parse(bytes);
  } catch (error) {
    if (!/^Maximum /.test((error as Error).message)) throw error;
    yield { name: '', problem: 'mail-too-large', bytes: bytes.length };
    return;
  }
  const nodes = [...nodesOf(tree.root)];
  const { shown, hidden } = headerText(nodes.flatMap(({ headers }) => headers));
  if (shown !== '') yield { name: 'header', text: shown };
  const bodies = new Bodies();
  for (const node of nodes) yield* bodies.read(node);
  const around = nodes.filter(isAround).map((node) => node.getTextContent());
  const unseen = [hidden, ...around, epilogue(tree.root, bytes), trailer];
  const text = unseen.map((each) => each.replace(PREAMBLE, '').trim()).filter((each) => each !== '');
  if (text.length > 0) yield { name: 'hidden text', text: text.join('\n') };
}

/** Standard text that mail programs write before the first part. */
const PREAMBLE = /^\s*this is a (?:multi-?part|cryptographically signed) message in mime format\.?/i;

/** The parts of a mail, in its order. What is encrypted is not gone into. */
function* nodesOf(node: MimeNode): Generator<MimeNode, void> {
  yield node;
  if (node.contentType.multipart === 'encrypted') return;
  for (const child of node.childNodes) yield* nodesOf(child);
}

function isAround({ contentType }: MimeNode): boolean {
  return contentType.multipart !== false && contentType.multipart !== 'encrypted';
}

/** The text after the last part, which the library drops. */
function epilogue({ contentType }: MimeNode, bytes: Buffer): string {
  const { boundary } = contentType.parsed.params;
  if (contentType.multipart === false || boundary === undefined) return '';
  const end = `\n--${boundary}--`;
  const at = bytes.indexOf(end);
  return at < 0 ? '' : bytes.toString('utf8', at + Buffer.byteLength(end));
}

/** Mail of Apple (emlx) begins with the number of its bytes, and ends with a property list. */
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
/** Maximum fraction of characters that could not be decoded; a text with more is damaged. */
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

/** Reads the parts of a mail that hold no others, and numbers those of a kind. */
class Bodies {
  readonly #counts = new Map<string, number>();

  async *read(node: MimeNode): AsyncGenerator<Unpacked, void> {
    const { contentType, contentDisposition, content } = node;
    const { value: type, params } = contentType.parsed;
    if (isEncrypted(node)) yield { name: this.#label('encrypted'), problem: 'encrypted' };
    else if (contentType.multipart !== false || content === null) return;
    else if (contentDisposition.parsed.value === 'attachment' || !/^text\/(?:plain|html)$/.test(type)) {
      yield this.#attachment(node, Buffer.from(content));
    } else if (type === 'text/html') {
      const markup =
        params['charset'] === undefined ? decodeMarkup(Buffer.from(content)) : node.getTextContent();
      yield* unpackMarkup(markup, `${this.#label('html')} `);
    } else {
      const name = this.#label('text');
      const text = node.getTextContent().trim();
      if (text.includes(ENCRYPTED_TEXT)) yield { name, problem: 'encrypted' };
      if (text.split('\ufffd').length - 1 > text.length * MAX_UNDECODABLE) yield { name, problem: 'damaged' };
      else if (text !== '') yield { name, text };
    }
  }

  #attachment(node: MimeNode, content: Buffer): Unpacked {
    const { value: type, params } = node.contentType.parsed;
    const given = node.contentDisposition.parsed.params['filename'] ?? params['name'];
    const name = given === undefined ? this.#label('attachment') : `attachment ${decodeWords(given)}`;
    const end = ENDS[type] ?? '';
    const isText = type.startsWith('text/') && type !== 'text/html' && !isUtf8(content);
    const bytes = isText && params['charset'] !== undefined ? Buffer.from(node.getTextContent()) : content;
    return fileInside(name.toLowerCase().endsWith(end) ? name : name + end, bytes);
  }

  #label(kind: string): string {
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    return count === 1 ? kind : `${kind} ${count}`;
  }
}

/** By S/MIME (RFC 8551) or PGP (RFC 3156). A signed part of S/MIME is read as any other file. */
function isEncrypted({ contentType }: MimeNode): boolean {
  const { value: type, params } = contentType.parsed;
  if (/^application\/(?:x-)?pkcs7-mime$/.test(type))
    return params['smime-type']?.toLowerCase() !== 'signed-data';
  return contentType.multipart === 'encrypted';
}
