import { isAscii, isUtf8 } from 'node:buffer';
import { chooseDecoder, encodingByMark, type Decoder } from './decoder.ts';
import { isOfOtherScript } from './likely-encoding.ts';

const NEWLINE = 0x0a;

/**
 * A decoder for a file that may be in a given encoding: uses it only if the file is not UTF-8, nor certainly of
 * another script: the wrong letters must not be judged. The first chunk with
 * non-ASCII bytes decides: it is UTF-8 if at least half of the lines with non-ASCII bytes are.
 */
export class FittingDecoder implements Decoder {
  readonly #label: string;
  #decoder: Decoder | null;
  #encoding: string | null = null;
  /** Possible first bytes of an incomplete UTF-8 character. */
  #held: Buffer = Buffer.alloc(0);

  /** `label` is a WHATWG label; `head` is the first bytes of the file, which must still be written. */
  constructor(label: string, head: Buffer) {
    this.#label = new TextDecoder(label).encoding;
    this.#decoder = encodingByMark(head) === null ? null : chooseDecoder(null, head);
    if (this.#decoder === null && isKnownByAscii(this.#label, head)) this.#settle(true);
  }

  /** The encoding if it was found to be the file's; otherwise null. */
  get encoding(): string | null {
    return this.#encoding;
  }

  write(chunk: Buffer): Buffer {
    if (this.#decoder !== null) return this.#decoder.write(chunk);
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const end = endOfCharacters(bytes);
    const isForeign = isMostlyForeign(bytes.subarray(0, end));
    if (isForeign !== null) {
      this.#settle(isForeign && !isOfOtherScript(bytes, this.#label));
      return this.#decoder!.write(bytes);
    }
    this.#held = bytes.subarray(end);
    return bytes.subarray(0, end);
  }

  end(): Buffer {
    // An incomplete character at the end is not UTF-8.
    if (this.#decoder === null && this.#held.length > 0) {
      this.#settle(true);
      return Buffer.concat([this.#decoder!.write(this.#held), this.#decoder!.end()]);
    }
    return this.#decoder?.end() ?? Buffer.alloc(0);
  }

  #settle(isForeign: boolean): void {
    this.#encoding = isForeign ? this.#label : null;
    this.#decoder = chooseDecoder(this.#encoding, Buffer.alloc(0));
  }
}

/** Whether the head uses an encoding whose text is ASCII bytes with another meaning in UTF-8. */
function isKnownByAscii(label: string, head: Buffer): boolean {
  if (label.startsWith('utf-16')) return head.includes(0);
  return label === 'iso-2022-jp' && head.includes(0x1b);
}

/** Whether most non-ASCII lines are not UTF-8; null if all lines are ASCII. */
function isMostlyForeign(bytes: Buffer): boolean | null {
  let foreign = 0;
  let utf8 = 0;
  for (let from = 0; from < bytes.length;) {
    const newline = bytes.indexOf(NEWLINE, from);
    const line = bytes.subarray(from, newline < 0 ? bytes.length : newline);
    if (!isUtf8(line)) foreign++;
    else if (!isAscii(line)) utf8++;
    if (newline < 0) break;
    from = newline + 1;
  }
  return foreign + utf8 === 0 ? null : foreign > utf8;
}

const MAX_CHARACTER_BYTES = 4;

/** End of the bytes without a truncated UTF-8 character at the end. */
function endOfCharacters(bytes: Buffer): number {
  for (let end = bytes.length - 1; end >= Math.max(0, bytes.length - MAX_CHARACTER_BYTES); end--) {
    const byte = bytes[end]!;
    if (byte < 0x80) break;
    // The first byte of a character.
    if (byte >= 0xc0) return isUtf8(bytes.subarray(end)) ? bytes.length : end;
  }
  return bytes.length;
}
