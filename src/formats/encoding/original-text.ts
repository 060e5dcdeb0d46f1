import { ByteWindow } from '../byte-window.ts';
import { asciiIn, chooseDecoder, type Decoder, encodingByMark, markBytes } from './decoder.ts';

/** Longest byte order mark. */
const MARK_LIMIT = 4;

/** Max bytes of UTF-8 that one byte of any encoding becomes. */
const GROWTH = 4;

/** Bytes before a wanted offset that are decoded one by one: more than a decoder ever holds back, decoded. */
const FINE_BYTES = 32;

/** A stretch of a file: its own bytes, and the same as text in UTF-8. */
export interface Stretch {
  readonly bytes: Buffer;
  readonly text: Buffer;
}

const NOTHING: Stretch = { bytes: Buffer.alloc(0), text: Buffer.alloc(0) };

/**
 * Finds the original bytes of a file that is read as UTF-8. Takes the bytes as they are read, and gives them in order by
 * offsets in the text. Where text and bytes differ, it decodes a second time, in steps that end at the wanted offsets.
 *
 * Wanted offsets must be behind ASCII characters or at the start, where no decoder holds anything back. Encodings with
 * shift states (ISO-2022-JP) have no such bytes: see `canSplit`.
 */
export class OriginalText {
  readonly #maxBytes: number;
  #window = new ByteWindow();
  /** Null before the first stretch; then whether bytes and text are the same but for a byte order mark. */
  #isSame: boolean | null = null;
  /** Whether a byte order mark says what the encoding is, which then is no other. */
  #isMarked = false;
  #decoder: Decoder | null = null;
  /** What the encoding is called; null for UTF-8 without a mark. */
  #label: string | null = null;
  /** Offset in the bytes, and the offset in the text that it corresponds to. */
  #byte = 0;
  #at = 0;
  /** Offset in the text up to which stretches were given. */
  #given = 0;

  /** Buffers at most `maxBytes` of text that was not asked for, four times as many bytes where these are not UTF-8. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Whether a file in an encoding can be taken apart. `encoding` is a WHATWG label; null for Unicode. */
  static canSplit(encoding: string | null): boolean {
    return encoding === null || new TextDecoder(encoding).encoding !== 'iso-2022-jp';
  }

  append(bytes: Buffer): void {
    this.#window.append(bytes);
    const excess = this.#window.end - this.#byte - (this.#isSame === true ? 1 : GROWTH) * this.#maxBytes;
    if (this.#isSame === null || excess <= 0) return;
    this.#step(excess, null);
    this.#window.dropBefore(this.#byte);
  }

  /** The byte order mark, empty without one. To be called once the head of the file was appended, before `take`. */
  mark(): Buffer {
    const head = this.#window.slice(0, Math.min(MARK_LIMIT, this.#window.end));
    const length = markBytes(head);
    const mark = head.subarray(0, length);
    const marked = encodingByMark(head);
    this.#isMarked = marked !== null;
    this.#label = marked;
    this.#isSame = marked === null || marked === 'utf-8';
    if (!this.#isSame) {
      this.#decoder = chooseDecoder(null, head);
      this.#decoder.write(mark);
    }
    this.#byte = length;
    return mark;
  }

  /**
   * The stretch from the last wanted offset up to `to`; null if bytes of it are no longer buffered. `encoding` is that
   * of the file as far as it is known (`OpenSource.encoding`).
   */
  take(to: number, encoding: string | null): Stretch | null {
    if (this.#isSame === true && encoding !== null && !this.#isMarked) {
      // All characters so far were ASCII, or the encoding was known from the start.
      this.#isSame = false;
      this.#label = encoding;
      this.#decoder = chooseDecoder(encoding, Buffer.alloc(0));
    }
    const isWhole = this.#at === this.#given;
    this.#given = to;
    if (to < this.#at) return null;
    if (to === this.#at) return isWhole ? NOTHING : null;
    const start = this.#byte;
    const texts: Buffer[] = [];
    while (this.#at < to && this.#byte < this.#window.end) {
      const left = to - this.#at;
      const coarse = Math.floor((left - FINE_BYTES) / GROWTH);
      this.#step(this.#isSame === true ? left : Math.max(1, coarse), texts);
    }
    const isComplete = this.#at === to || to === Number.POSITIVE_INFINITY;
    const bytes = isWhole && isComplete ? this.#window.slice(start, this.#byte) : null;
    this.#window.dropBefore(this.#byte);
    return bytes === null ? null : { bytes, text: texts.length === 1 ? texts[0]! : Buffer.concat(texts) };
  }

  /** The stretch from the last wanted offset to the end of the file; null as in `take`. */
  rest(encoding: string | null): Stretch | null {
    const rest = this.take(Number.POSITIVE_INFINITY, encoding);
    if (rest === null || this.#decoder === null) return rest;
    return { bytes: rest.bytes, text: Buffer.concat([rest.text, this.#decoder.end()]) };
  }

  /** ASCII text in the encoding of the file. */
  ascii(text: string): Buffer {
    return asciiIn(this.#label, text);
  }

  /** Moves on by at most `count` bytes; their text is appended to `texts`. */
  #step(count: number, texts: Buffer[] | null): void {
    const bytes = this.#window.slice(this.#byte, Math.min(this.#byte + count, this.#window.end));
    const text = this.#decoder === null ? bytes : this.#decoder.write(bytes);
    this.#byte += bytes.length;
    this.#at += text.length;
    if (text.length > 0) texts?.push(text);
  }
}
