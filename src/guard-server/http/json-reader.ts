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

/** The characters that `\` and one letter stand for. */
const ESCAPES: Readonly<Record<string, number>> = {
  '"': 0x22,
  '\\': 0x5c,
  '/': 0x2f,
  b: 0x08,
  f: 0x0c,
  n: 0x0a,
  r: 0x0d,
  t: 0x09,
};

/**
 * Reads one JSON text (RFC 8259) in place, without building objects: strings are views into the text unless they hold
 * escapes. Linear in the size of the text, with a limit on values and nesting. Strings must be free of unpaired
 * surrogates in escapes; whether they are UTF-8 is not checked. Every method throws MalformedJson.
 */
export class JsonReader {
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
    const from = this.#at + 1;
    let hasEscapes = false;
    for (let at = from; ; at++) {
      const byte = this.#text[at];
      if (byte === QUOTE) {
        this.#at = at + 1;
        const raw = this.#text.subarray(from, at);
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

  /** An escape is never shorter than what it stands for in UTF-8. */
  #unescape(raw: Buffer): Buffer {
    const bytes = Buffer.allocUnsafe(raw.length);
    let to = 0;
    let at = 0;
    for (;;) {
      const escape = raw.indexOf(BACKSLASH, at);
      const end = escape < 0 ? raw.length : escape;
      to += raw.copy(bytes, to, at, end);
      if (escape < 0) return bytes.subarray(0, to);
      const letter = String.fromCharCode(raw[escape + 1]!);
      if (letter === 'u') {
        const [text, length] = this.#unicodeEscape(raw, escape);
        to += bytes.write(text, to);
        at = escape + length;
      } else {
        const byte = ESCAPES[letter];
        if (byte === undefined) throw this.#error('invalid escape');
        bytes[to++] = byte;
        at = escape + 2;
      }
    }
  }

  /** The character of `\uXXXX`, or of two of them that form a surrogate pair, and the length of the escape. */
  #unicodeEscape(raw: Buffer, at: number): [text: string, length: number] {
    const unit = this.#hexUnit(raw, at);
    if (unit < 0xd800 || unit > 0xdfff) return [String.fromCharCode(unit), 6];
    const low = unit <= 0xdbff ? this.#hexUnit(raw, at + 6) : 0;
    if (low < 0xdc00 || low > 0xdfff) throw this.#error('unpaired surrogate');
    return [String.fromCharCode(unit, low), 12];
  }

  #hexUnit(raw: Buffer, at: number): number {
    const escape = raw.toString('latin1', at, at + 6);
    if (!/^\\u[0-9a-fA-F]{4}$/.test(escape)) throw this.#error('invalid escape');
    return Number.parseInt(escape.slice(2), 16);
  }

  #error(what: string): MalformedJson {
    return new MalformedJson(`${what} at byte ${this.#at}`);
  }
}
