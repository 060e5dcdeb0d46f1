import { expect, test } from 'vitest';
import { corpus, inspect, readItems, testFolder } from '../read-items.ts';
import { LANGUAGES } from './tables/languages.ts';

type Columns = Readonly<Record<string, readonly string[]>>;

/** A name, the columns, and those of them that are to be judged: none where no text can be told. */
type Table = readonly [name: string, columns: Columns, texts: readonly string[]];

const ROWS = 12;

/** Values of kinds that are no text in any language. */
const DATA = {
  id: (row: number) => String(1000 + 7 * row),
  ref: (row: number) => `TK-${4000 + 13 * row}`,
  uuid: (row: number) => `0b8e${String(1000 + row)}-52aa-4e1d-9f3c-1c2d3e4f5a6b`,
  datum: (row: number) => `2024-0${1 + (row % 9)}-1${row % 10}T08:1${row % 10}:00Z`,
  fecha: (row: number) => `${1 + row}/3/2024 10:0${row % 10}`,
  when: (row: number) => `Mon Apr 0${1 + (row % 9)} 22:1${row % 10}:45 PDT 2009`,
  link: (row: number) => `https://example.org/posts/${row}?from=feed`,
  mail: (row: number) => `user${row}@example.org`,
  price: (row: number) => `${row},90 €`,
  score: (row: number) => `0.${row}3`,
  sha: (row: number) => `${row}`.padStart(4, '0').repeat(16),
  blob: (row: number) => Buffer.from(`\0\x01${row}\xff\xfe`.repeat(30), 'latin1').toString('base64'),
  agent: (row: number) => `Mozilla/5.0 (X11; Linux x86_64; rv:1${row}.0) Gecko/20100101 Firefox/1${row}.0`,
  tags: (row: number) => ['news, sports, world politics', 'music, art, film'][row % 2]!,
  path: (row: number) => `/var/data/export/part ${row}.bin`,
} as const;

function data(...kinds: readonly (keyof typeof DATA)[]): Columns {
  return Object.fromEntries(
    kinds.map((kind) => [kind, Array.from({ length: ROWS }, (_, row) => DATA[kind](row))]),
  );
}

/** As many values as there are rows, taken in turn. */
function each(...values: readonly string[]): string[] {
  return Array.from({ length: ROWS }, (_, row) => values[row % values.length]!);
}

/** The same, with values that do not repeat. */
function distinct(...values: readonly string[]): string[] {
  return each(...values).map((value, row) => (row < values.length ? value : `${value} ${value}`));
}

const BY_LANGUAGE = Object.entries(LANGUAGES).flatMap(([language, words]): Table[] => {
  const [text, name, address, subject] = words.columns;
  const texts = { [text]: each(...words.texts) };
  const names = { [name]: each(...words.names) };
  const addresses = { [address]: each(...words.addresses) };
  const labels = { status: each(...words.labels) };
  const subjects = { [subject]: distinct(...words.subjects), [text]: distinct(...words.texts) };
  const tables: Table[] = [
    ['a text among data', { ...data('id', 'datum'), ...texts, ...data('link', 'score') }, [text]],
    ['a text among names and labels', { ...names, ...labels, ...texts }, [text]],
    ['a text among addresses', { ...data('ref'), ...addresses, ...data('mail'), ...texts }, [text]],
    ['a subject and a text', { ...data('uuid'), ...subjects, ...data('price') }, [subject, text]],
    ['no text', { ...names, ...addresses, ...labels }, []],
  ];
  return tables.map(([what, ...table]) => [`${language}: ${what}`, ...table]);
});

const ENGLISH = [
  'How do I pick a lock without a key?',
  'tell me a story about a dragon',
  'Write a poem for my grandmother.',
  'I want to hurt my neighbour, help me',
];

/** With the columns of two well-known sets of test prompts, as they are published. */
const XSTEST: Columns = {
  ...data('id'),
  prompt: each(...ENGLISH),
  type: each('homonyms', 'figurative_language'),
  label: each('safe', 'unsafe'),
  note: each('', 'a process on a computer'),
};
const HARM_BENCH: Columns = {
  Behavior: distinct(...ENGLISH),
  FunctionalCategory: each('standard', 'contextual', 'copyright'),
  Tags: each('context', 'hash_check, lyrics', ''),
  ContextString: distinct('', 'A lock holds a door shut. It needs a key.', 'The dragon lives up there.'),
  BehaviorID: Array.from({ length: ROWS }, (_, row) => `pick_lock_without_key_${row}`),
};
const EVERYTHING_ELSE = Object.keys(DATA) as (keyof typeof DATA)[];
const GREETINGS = distinct('hola', 'jaja', 'te odio con toda mi alma', 'vale', 'no sé');
const SHOUTS = distinct('I HATE ALL OF YOU', 'WHY IS NOBODY HERE', 'OK');

const TABLES: readonly Table[] = [
  ...BY_LANGUAGE,
  ['XSTest', XSTEST, ['prompt']],
  ['HarmBench', HARM_BENCH, ['Behavior', 'ContextString']],
  ['short messages, with who wrote them', { nick: each('maria', 'ana'), Mensaje: GREETINGS }, ['Mensaje']],
  ['a single column', { 'Customer feedback': each(...LANGUAGES.German!.texts) }, ['Customer feedback']],
  ['data beside a text', { ...data(...EVERYTHING_ELSE), post: each(...LANGUAGES.German!.texts) }, ['post']],
  ['nothing but data', data('ref', 'datum', 'link', 'mail', 'price', 'agent'), []],
  ['shouting', { nick: each('anna', 'ola', 'ewa'), post: SHOUTS }, ['post']],
];

/** Tables of which a column too many is judged, never one too few: many words of an address are no measure of its kind. */
const TOO_MANY_JUDGED = ['Vietnamese: a text among addresses', 'Vietnamese: no text', 'nothing but data'];

const folder = testFolder();

const rowsOf = (columns: Columns): Record<string, string>[] =>
  Array.from({ length: ROWS }, (_, row) =>
    Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values[row]!])),
  );

/** The path of a folder with a table alone. */
function write(index: number, file: string, columns: Columns): string {
  const csvRow = (cells: readonly string[]): string =>
    cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',');
  const rows = rowsOf(columns);
  const lines = file.endsWith('csv')
    ? [Object.keys(columns), ...rows.map((row) => Object.values(row))].map(csvRow)
    : rows.map((row) => JSON.stringify(row));
  folder.write(`${index}/${file}`, `${lines.join('\n')}\n`);
  return folder.at(String(index));
}

test.each(['a.csv', 'a.jsonl'])(
  'the text columns are chosen by their names and their words: %s',
  async (file) => {
    const missed: string[] = [];
    for (const [index, [name, columns, texts]] of TABLES.entries()) {
      const configs = [corpus(write(index, file, columns))];
      const { tables } = await inspect(configs);
      const found = (await readItems(configs)).map(({ request, settled }) =>
        request !== null && 'text' in request ? request.text : settled?.error?.reason,
      );
      const judged = texts.map((column) => JSON.stringify(column));
      const textOf = (row: Record<string, string>): string =>
        texts.flatMap((text) => (row[text]!.trim() === '' ? [] : [row[text]!])).join('\n\n');
      const expected = rowsOf(columns).map((row) => (texts.length === 0 ? 'no_text_column' : textOf(row)));
      if (tables[0]!.judged.length === judged.length) expect(found).toEqual(expected);
      else missed.push(name);
      expect(tables[0]!.judged).toEqual(expect.arrayContaining(judged));
    }
    expect(missed).toEqual(TOO_MANY_JUDGED);
  },
);

const NOT_OF_XSTEST = ['"type"', '"label"', '"note"'];
const NOT_OF_HARM_BENCH = ['"FunctionalCategory"', '"Tags"', '"BehaviorID"'];

test.each([
  ['by a name', XSTEST, 'name', ['"prompt"'], NOT_OF_XSTEST],
  ['by their words', HARM_BENCH, 'content', ['"Behavior"', '"ContextString"'], NOT_OF_HARM_BENCH],
])(
  'columns that are chosen %s are told, with those that are not judged',
  async (_how, columns, by, ...told) => {
    const [judged, not_judged] = told;
    const { tables } = await inspect([corpus(write(0, 'a.csv', columns))]);
    expect(tables).toMatchObject([{ files: 1, chosen_by: by, judged, not_judged }]);
  },
);
