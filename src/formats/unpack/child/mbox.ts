import { MAX_PART_BYTES } from '../messages.ts';
import { unpackMail } from './mail.ts';
import { type Budget, piecesOf, type Unpacked, type Unpacker } from './unpacker.ts';

/** Unpacks a mailbox (RFC 4155): the parts of each mail, which is read and counted as if it were on its own. */
export const unpackMbox: Unpacker = async function* (input, budget) {
  let number = 0;
  for await (const message of messagesOf(piecesOf(input))) {
    number++;
    const name = `message ${number}`;
    if (typeof message === 'number') yield { name, problem: 'part-too-large', bytes: message };
    else yield* messageParts({ name, bytes: message }, budget);
  }
};

async function* messageParts(
  message: { readonly name: string; readonly bytes: Buffer },
  budget: Budget,
): AsyncGenerator<Unpacked, void> {
  const { name, bytes } = message;
  let isEmpty = true;
  try {
    for await (const part of unpackMail(message, budget)) {
      isEmpty = false;
      yield { ...part, name: part.name === '' ? name : `${name}/${part.name}` };
    }
  } catch {
    yield { name, problem: 'damaged', bytes: bytes.length };
    return;
  }
  if (isEmpty) yield { name, problem: 'empty', bytes: bytes.length };
}

/** Start of a line that separates two mails. */
const FROM = '\nFrom ';
const SEPARATOR = /^From \S+ [^\r\n:]*\d\d:\d\d/;
/** Maximum length of such a line in bytes. */
const LINE_BYTES = 1024;

/** Splits a mailbox into mails and removes the quoting of their lines. Yields the size of a mail that is too large. */
export async function* messagesOf(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer | number, void> {
  const mail = new Collected();
  // The first line looks like those between mails.
  let rest: Buffer = Buffer.from('\n');
  let isFirst = true;
  for await (const piece of pieces) {
    let buffer = Buffer.concat([rest, piece]);
    let from = 0;
    for (;;) {
      const at = buffer.indexOf(FROM, from);
      // An incomplete separator is checked again with the next piece.
      const kept = at < 0 ? Math.max(from, buffer.length - FROM.length + 1) : at;
      const end = at < 0 ? -1 : buffer.indexOf('\n', at + 1);
      if (at < 0 || (end < 0 && buffer.length - at < LINE_BYTES)) {
        mail.add(buffer.subarray(0, kept));
        rest = buffer.subarray(kept);
        break;
      }
      from = at + 1;
      if (!SEPARATOR.test(buffer.toString('latin1', at + 1, at + LINE_BYTES))) continue;
      mail.add(buffer.subarray(0, at + 1));
      if (!isFirst || mail.bytes > 1) yield mail.take();
      else mail.take();
      isFirst = false;
      buffer = buffer.subarray(end < 0 ? at + LINE_BYTES : end);
      from = 0;
    }
  }
  mail.add(rest);
  if (mail.bytes > 1) yield mail.take();
}

/** Collects the bytes of a mail, up to the limit of a part. */
class Collected {
  #pieces: Buffer[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  add(piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes > MAX_PART_BYTES) this.#pieces = [];
    else if (piece.length > 0) this.#pieces.push(piece);
  }

  /** The mail, or its size if it is too large. */
  take(): Buffer | number {
    const bytes = this.#bytes;
    const mail = bytes > MAX_PART_BYTES ? bytes : unquoted(Buffer.concat(this.#pieces));
    this.#pieces = [];
    this.#bytes = 0;
    return mail;
  }
}

/** Removes the line break before the mail and the quoting of lines that begin with `From`. */
function unquoted(mail: Buffer): Buffer {
  const own = mail.subarray(1);
  if (!own.includes('\n>')) return own;
  return Buffer.from(own.toString('latin1').replace(/^>(>*From )/gm, '$1'), 'latin1');
}
