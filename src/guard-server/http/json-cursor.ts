import { isUtf8 } from 'node:buffer';

/** The text is not JSON, not the JSON expected, or beyond a limit. The message never quotes it. */
export class MalformedJson extends Error {
  override readonly name = 'MalformedJson';
}

type JsonType = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

/** Max nested objects and arrays. */
const MAX_DEPTH = 32;

/** Max size of a name or id, in bytes. */
const MAX_TEXT = 1024 * 1024;

/** Max characters of a number. */
const MAX_NUMBER = 64;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

/**
 * Reads one JSON text (RFC 8259) in place, without building objects: strings are views into the text unless they hold
 * escapes. Linear in the size of the text, with a limit on values and nesting. Strings with escapes must be UTF-8 and have no
 * unpaired surrogates; whether others are UTF-8 is not checked. Every method throws MalformedJson.
 */
export class JsonCursor {
  readonly #text: Buffer;
  #at = 0;
  #depth = 0;
  #valuesLeft: number;

  /** `maxValues`: members and elements of all objects and arrays. */
  constructor(text: Buffer, maxValues: number) {
    this.#text = text;
    this.#valuesLeft = maxValues;
  }

  /** The type of the next value. One of the methods below must then read or skip it. */
  type(): JsonType {
    this.#skipSpace();
    const byte = this.#text[this.#at];
    switch (byte) {
      case OPEN_OBJECT:
        return 'object';
      case OPEN_ARRAY:
        return 'array';
      case QUOTE:
        return 'string';
      case 0x74: // t
      case 0x66: // f
        return 'boolean';
      case 0x6e: // n
        return 'null';
      default:
        return 'number';
    }
  }

  /** Calls `read` for each member of an object; it must read or skip the member's value. Names must not repeat. */
  members(read: (name: string) => void): void {
    const names = new Set<string>();
    this.#enter(OPEN_OBJECT, 'an object');
    for (let first = true; !this.#closes(CLOSE_OBJECT, first); first = false) {
      this.#skipSpace();
      const name = this.text();
      if (names.has(name)) throw this.#error('repeated member');
      names.add(name);
      this.#expect(COLON);
      this.#spend();
      read(name);
    }
  }

  /** Calls `read` for each element of an array; it must read or skip the element. */
  elements(read: () => void): void {
    this.#enter(OPEN_ARRAY, 'an array');
    for (let first = true; !this.#closes(CLOSE_ARRAY, first); first = false) {
      this.#spend();
      read();
    }
  }

  /** The UTF-8 of a string: a view into the text, or a copy if it holds escapes. */
  bytes(): Buffer {
    if (this.type() !== 'string') throw this.#error('expected a string');
    const text = this.#text;
    const from = this.#at + 1;
    let hasEscapes = false;
    for (let at = from; ; at++) {
      const byte = text[at];
      if (byte === QUOTE) {
        this.#at = at + 1;
        const raw = text.subarray(from, at);
        return hasEscapes ? this.#unescape(raw) : raw;
      }
      if (byte === undefined || byte < 0x20) throw this.#error('invalid string');
      if (byte === BACKSLASH) {
        hasEscapes = true;
        at++;
      }
    }
  }

  text(): string {
    const bytes = this.bytes();
    if (bytes.length > MAX_TEXT) throw this.#error('name or id too long');
    return bytes.toString('utf8');
  }

  number(): number {
    this.#skipSpace();
    const token = this.#text.toString('latin1', this.#at, this.#at + MAX_NUMBER + 1);
    const [digits = ''] = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/.exec(token) ?? [];
    if (digits === '' || digits.length > MAX_NUMBER) throw this.#error('expected a number');
    this.#at += digits.length;
    return Number(digits);
  }

  boolean(): boolean {
    if (this.#takeWord('true')) return true;
    if (this.#takeWord('false')) return false;
    throw this.#error('expected true or false');
  }

  /** Reads a value of any type and drops it. */
  skip(): void {
    switch (this.type()) {
      case 'object':
        this.members(() => this.skip());
        return;
      case 'array':
        this.elements(() => this.skip());
        return;
      case 'string':
        this.bytes();
        return;
      case 'boolean':
        this.boolean();
        return;
      case 'null':
        if (!this.#takeWord('null')) throw this.#error('expected a value');
        return;
      case 'number':
        this.number();
    }
  }

  /** Nothing may follow. */
  end(): void {
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#error('unexpected text after the value');
  }

  #enter(bracket: number, what: string): void {
    this.#skipSpace();
    if (this.#text[this.#at] !== bracket) throw this.#error(`expected ${what}`);
    this.#at++;
    this.#depth++;
    if (this.#depth > MAX_DEPTH) throw this.#error('nested too deeply');
  }

  /** Whether the object or array ends here; else moves to its next member or element. */
  #closes(bracket: number, first: boolean): boolean {
    this.#skipSpace();
    if (this.#text[this.#at] === bracket) {
      this.#at++;
      this.#depth--;
      return true;
    }
    if (!first) this.#expect(COMMA);
    return false;
  }

  #expect(byte: number): void {
    this.#skipSpace();
    if (this.#text[this.#at] !== byte) throw this.#error('syntax error');
    this.#at++;
  }

  #takeWord(word: string): boolean {
    this.#skipSpace();
    const end = this.#at + word.length;
    if (this.#text.toString('latin1', this.#at, end) !== word) return false;
    this.#at = end;
    return true;
  }

  #skipSpace(): void {
    for (;;) {
      const byte = this.#text[this.#at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return;
      this.#at++;
    }
  }

  #spend(): void {
    this.#valuesLeft--;
    if (this.#valuesLeft < 0) throw this.#error('too many values');
  }

  /** `raw`: a string without its quotes. */
  #unescape(raw: Buffer): Buffer {
    if (!isUtf8(raw)) throw this.#error('invalid string');
    let text: string;
    try {
      text = JSON.parse(`"${raw.toString()}"`) as string;
    } catch {
      throw this.#error('invalid escape');
    }
    if (/\p{Surrogate}/u.test(text)) throw this.#error('unpaired surrogate');
    return Buffer.from(text);
  }

  #error(what: string): MalformedJson {
    return new MalformedJson(`${what} at byte ${this.#at}`);
  }
}
