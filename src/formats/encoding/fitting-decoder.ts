import { isAscii, isUtf8 } from 'node:buffer';
import { chooseDecoder, encodingByMark, type Decoder } from './decoder.ts';

const NEWLINE = 0x0a;

/**
 * A decoder for a file of which it is not certain that it is in an encoding: it is read in it only if its bytes are not
 * UTF-8. Which of the two is settled by the first bytes that are not ASCII, in the head or behind it: by whether most of
 * the lines that hold any are UTF-8.
 */
export class FittingDecoder implements Decoder {
  readonly #label: string;
  #decoder: Decoder | null;
  #encoding: string | null = null;
  /** What may be the beginning of a character of UTF-8. */
  #held: Buffer = Buffer.alloc(0);

  /** `label` is that of the encoding (WHATWG); `head` the first bytes of the file, which are still to be written. */
  constructor(label: string, head: Buffer) {
    this.#label = new TextDecoder(label).encoding;
    this.#decoder = encodingByMark(head) === null ? null : chooseDecoder(null, head);
    if (this.#decoder === null && isToldByAscii(this.#label, head)) this.#settle(true);
  }

  /** The encoding, as far as it is settled that the file is in it; else null. */
  get encoding(): string | null {
    return this.#encoding;
  }

  write(chunk: Buffer): Buffer {
    if (this.#decoder !== null) return this.#decoder.write(chunk);
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const end = withoutCutCharacter(bytes);
    const isForeign = isMostlyForeign(bytes.subarray(0, end));
    if (isForeign !== null) {
      this.#settle(isForeign);
      return this.#decoder!.write(bytes);
    }
    this.#held = bytes.subarray(end);
    return bytes.subarray(0, end);
  }

  end(): Buffer {
    // What was cut off is no character of UTF-8.
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

/** Whether a head is in an encoding that writes text in ASCII bytes which mean something else in UTF-8. */
function isToldByAscii(label: string, head: Buffer): boolean {
  if (label.startsWith('utf-16')) return head.includes(0);
  return label === 'iso-2022-jp' && head.includes(0x1b);
}

/** Whether most lines that are not ASCII are not UTF-8 either; null when all are ASCII. */
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

const MAX_CHARACTER = 4;

/** End of the bytes, without a character of UTF-8 that they may have been cut in. */
function withoutCutCharacter(bytes: Buffer): number {
  for (let end = bytes.length - 1; end >= Math.max(0, bytes.length - MAX_CHARACTER); end--) {
    const byte = bytes[end]!;
    if (byte < 0x80) break;
    // The first byte of a character.
    if (byte >= 0xc0) return isUtf8(bytes.subarray(end)) ? bytes.length : end;
  }
  return bytes.length;
}
