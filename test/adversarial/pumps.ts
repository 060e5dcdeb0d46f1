import { random } from '../helpers/corpus.ts';
import type { Sized } from './growth.ts';

/** Named, since each case says what it was made of. */
export interface Pump<T> {
  readonly name: string;
  readonly of: Sized<T>;
}

/** What a text is made of that a parser may look at twice: space, marks, brackets, half a construct. */
const ATOMS = [
  ' ', '\t', '\n', '\r', '\r\n', ' \n', '\0', '\u00a0', '\u200b', '\ufeff', 'a', 'A', '0', '1', '9.', '-', '_', '.',
  ',', ';', '|', ':', '=', '+', '/', '\\', '"', '""', "'", '`', '#', '&', '%', '%2', '@', '!', '?', '*', '~', '^', '$',
  '(', ')', '[', ']', '{', '}', '<', '>', '[[', '{"a":', '[{"a":[', '"a",', '"a":1,', '"\\', '\\u00', '\\ud800',
  '<!--', '<!---->', '<!-- -->', '<?x?>', '<!', '<a ', '<a>', '</a>', '<svg', '<!doctype html', '&amp;', '&#x',
  'a=b ', 'a: b\n', 'a,b\n', '"a\n', '\t"', 'From: a\n', 'From a\n', 'Subject:', '\n\nHuman:', '\n\nAssistant:',
  'Human: a\n\n', 'USER: ', '### ', '---\n', '- ', '  - ', '&a ', '*a ', '? ', '!!x ', '<<: ', 'data:', ';base64,',
  '=?utf-8?q?', 'http://a/', 'a@b.', '0x', 'е', 'ａ', '🅰', 'e\u0301', '\u0301', '漢', '👩\u200d', '\u202e', 's.e.x ',
  'a-b', 'k i l l ', 'v1a', '$$', 'aA', 'a1', 'A1b2', 'begin 644 a\n', "M'XL(\n", '=ybegin ', 'BEGIN:', '-----BEGIN ',
] as const; // prettier-ignore

const PREFIXES = ['', '<', '{"messages":[', '"', '[', 'text\n', 'id,text\n1,"', '\n'];
const SUFFIXES = ['', '!', 'x', '\n', '"', '\0', '<svg'];

/** What once took quadratic or exponential time. */
const KNOWN = [
  pumped('', '<!---->', '<svg'),
  pumped('text\n', ' ', 'x'),
  pumped('', 'name ', '\0'),
  pumped('', 'а', 'a'),
  pumped('', '$', 'a'),
  pumped('a,b\n', '"a"b,\n', ''),
  pumped('a,b\n', 'x",",y\n', ''),
  pumped('[{"a":1},', '"},{"a', ''),
  pumped('[{"a":1},', '{"a":["b",\n', ''),
  ...['a1-', 'b1b ', 'ệa', 'ab c ', 'pln ', 'f i n d '].map((pump) => pumped('', pump, '')),
];

/** Texts prefix + (pump)* + suffix: every atom, and so many mixtures of up to three, drawn from the seed. */
export function textPumps(seed: number, mixtures: number): Pump<string>[] {
  const draw = random(seed);
  const oneOf = <T>(list: readonly T[]): T => list[Math.floor(draw() * list.length)]!;
  const pumps = [...KNOWN, ...ATOMS.map((atom) => pumped('', atom, oneOf(SUFFIXES)))];
  for (let each = 0; each < mixtures; each++) {
    const atoms = Array.from({ length: 1 + Math.floor(draw() * 3) }, () => oneOf(ATOMS));
    pumps.push(pumped(oneOf(PREFIXES), atoms.join(''), oneOf(SUFFIXES)));
  }
  return pumps;
}

function pumped(prefix: string, pump: string, suffix: string): Pump<string> {
  return {
    name: `${JSON.stringify(prefix)} + ${JSON.stringify(pump)}* + ${JSON.stringify(suffix)}`,
    of: (size) => prefix + pump.repeat(Math.ceil(size / pump.length)) + suffix,
  };
}

/** Bytes behind one of the beginnings: a pattern again and again, or noise, of the seed. */
export function bytePumps(seed: number, beginnings: readonly Buffer[], mixtures: number): Pump<Buffer>[] {
  const draw = random(seed);
  const patterns = ['00', 'ff', '01', '00000001', '01000000', 'ffd8', '2c', '21f9', '80'].map((bytes) =>
    Buffer.from(bytes, 'hex'),
  );
  for (let each = 0; each < mixtures; each++) {
    const length = 1 + Math.floor(draw() * 24);
    patterns.push(Buffer.from(Array.from({ length }, () => Math.floor(draw() * 256))));
  }
  return beginnings.flatMap((beginning) =>
    patterns.map((pattern) => ({
      name: `${beginning.toString('hex', 0, 32)} + ${pattern.toString('hex')}*`,
      of: (size: number) => Buffer.concat([beginning, Buffer.alloc(size, pattern)]),
    })),
  );
}

/** Set by the suite's setup, which prints it. */
export const SEED = Number(process.env['ADVERSARIAL_SEED']);
