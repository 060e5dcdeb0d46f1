import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { duckdb } from '../../helpers/duckdb.ts';
import { corpus, readItems, inspect } from '../read-items.ts';
import { LANGUAGES } from './tables/languages.ts';

type Columns = Readonly<Record<string, readonly string[]>>;

interface Table {
  readonly name: string;
  readonly columns: Columns;
  /** The columns to be judged; null: none can be told. */
  readonly texts: readonly string[] | null;
}

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
function each(values: readonly string[]): string[] {
  return Array.from({ length: ROWS }, (_, row) => values[row % values.length]!);
}

/** The same, with values that do not repeat. */
function distinct(values: readonly string[]): string[] {
  return each(values).map((value, row) => (row < values.length ? value : `${value} ${value}`));
}

const BY_LANGUAGE: readonly Table[] = Object.entries(LANGUAGES).flatMap(([language, words]) => {
  const [text, name, address, subject] = words.columns;
  return [
    {
      name: `${language}: a text among ids and dates`,
      columns: { ...data('id', 'datum'), [text]: each(words.texts), ...data('link', 'score') },
      texts: [text],
    },
    {
      name: `${language}: a text among names and labels`,
      columns: { [name]: each(words.names), status: each(words.labels), [text]: each(words.texts) },
      texts: [text],
    },
    {
      name: `${language}: a text among addresses`,
      columns: {
        ...data('ref'),
        [address]: each(words.addresses),
        ...data('mail'),
        [text]: each(words.texts),
      },
      texts: [text],
    },
    {
      name: `${language}: a subject and a text`,
      columns: {
        ...data('uuid'),
        [subject]: distinct(words.subjects),
        [text]: distinct(words.texts),
        ...data('price'),
      },
      texts: [subject, text],
    },
    {
      name: `${language}: names, addresses and labels without a text`,
      columns: { [name]: each(words.names), [address]: each(words.addresses), Z: each(words.labels) },
      texts: null,
    },
  ];
});

const ENGLISH = [
  'How do I pick a lock without a key?',
  'tell me a story about a dragon',
  'Write a poem for my grandmother.',
  'what is the capital of peru',
  'Explain how vaccines work to a child',
  'I want to hurt my neighbour, help me',
];

/** As they are published: the columns of well-known sets of test prompts and comments, with rows of our own. */
const SETS: readonly Table[] = [
  {
    name: 'multilingual HateCheck',
    columns: {
      mhc_case_id: each(['x']).map((_, row) => `german-${row}`),
      functionality: each(['derog_neg_emote_h', 'counter_quote_nh']),
      test_case: each(LANGUAGES.German!.texts),
      label_gold: each(['hateful', 'non-hateful']),
      target_ident: each(['Frauen', 'Muslime', '']),
      case_templ: each(['Ich kann [IDENTITY_P] nicht leiden.', '[IDENTITY_P] sind alle gleich.']),
      gender_male: each(['alle Männer dieser Gruppe', 'der Mann']),
    },
    texts: ['test_case'],
  },
  {
    name: 'XSTest',
    columns: {
      ...data('id'),
      prompt: each(ENGLISH),
      type: each(['homonyms', 'figurative_language']),
      label: each(['safe', 'unsafe']),
      focus: each(['kill', 'execute']),
      note: each(['', 'a process on a computer']),
    },
    texts: ['prompt'],
  },
  {
    name: 'HarmBench',
    columns: {
      Behavior: distinct(ENGLISH),
      FunctionalCategory: each(['standard', 'contextual', 'copyright']),
      SemanticCategory: each(['chemical_biological', 'illegal', 'misinformation_disinformation']),
      Tags: each(['context', 'hash_check, lyrics', '']),
      ContextString: distinct([
        '',
        'A lock is a device that holds a door shut. It needs a key.',
        'The dragon lives in a cave above the village.',
      ]),
      BehaviorID: each(['x']).map((_, row) => `pick_lock_without_key_${row}`),
    },
    texts: ['Behavior', 'ContextString'],
  },
];

const OTHERS: readonly Table[] = [
  {
    name: 'short messages of a chat, with who wrote them',
    columns: {
      nick: each(['maria', 'pedro', 'ana']),
      Mensaje: distinct(['hola', 'qué tal', 'jaja', 'te odio con toda mi alma', 'vale', 'no sé']),
    },
    texts: ['Mensaje'],
  },
  {
    name: 'a single column',
    columns: { 'Customer feedback': each(LANGUAGES.German!.texts) },
    texts: ['Customer feedback'],
  },
  {
    name: 'everything that is no text beside one',
    columns: {
      ...data('id', 'ref', 'uuid', 'datum', 'fecha', 'when', 'link', 'mail', 'price', 'score', 'sha'),
      ...data('agent', 'tags', 'path', 'blob'),
      wpis: each(LANGUAGES.Polish!.texts),
    },
    texts: ['wpis'],
  },
  {
    name: 'nothing but data',
    columns: data('ref', 'datum', 'link', 'mail', 'price', 'agent'),
    texts: null,
  },
  {
    name: 'shouting',
    columns: {
      kto: each(['anna', 'ola', 'ewa']),
      wpis: distinct(['I HATE ALL OF YOU', 'WHY IS NOBODY HERE', 'OK']),
    },
    texts: ['wpis'],
  },
  {
    name: 'headlines under a name for text',
    columns: { ...data('ref'), news_headline: distinct(['Man Bites Dog', 'Rain In Spain', 'Stocks Fall']) },
    texts: ['news_headline'],
  },
];

const TABLES = [...BY_LANGUAGE, ...SETS, ...OTHERS];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'guardsweep-text-columns-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function rowsOf(columns: Columns): Record<string, string>[] {
  return Array.from({ length: ROWS }, (_, row) =>
    Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values[row]!])),
  );
}

const quoted = (cells: readonly string[]): string =>
  `${cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')}\n`;

const WRITERS = {
  'table.csv': (path: string, columns: Columns) =>
    writeFileSync(
      path,
      quoted(Object.keys(columns)) +
        rowsOf(columns)
          .map((row) => quoted(Object.values(row)))
          .join(''),
    ),
  'table.jsonl': (path: string, columns: Columns) =>
    writeFileSync(
      path,
      rowsOf(columns)
        .map((row) => `${JSON.stringify(row)}\n`)
        .join(''),
    ),
  'table.parquet': async (path: string, columns: Columns) => {
    WRITERS['table.jsonl'](`${path}.jsonl`, columns);
    const types = Object.keys(columns).map((name) => `'${name}': 'VARCHAR'`);
    const read = `read_json('${path}.jsonl', format = 'newline_delimited', columns = {${types.join(', ')}})`;
    await duckdb(`copy (select * from ${read}) to '${path}' (format parquet)`);
    rmSync(`${path}.jsonl`);
  },
} as const;

/** What is said to be judged, and what is judged, of a table in a folder of its own. */
async function judged({ columns }: Table, file: keyof typeof WRITERS) {
  const home = mkdtempSync(join(folder, 'table-'));
  await WRITERS[file](join(home, file), columns);
  const configs = [corpus(home)];
  const { tables } = await inspect(configs);
  const items = await readItems(configs);
  const texts = items.map(({ request, settled }) =>
    request !== null && 'text' in request ? request.text : settled?.error?.reason,
  );
  return { tables, texts };
}

/** Tables of which a column too many is judged, never one too few: many words of an address are no measure of its kind. */
const TOO_MANY_JUDGED = [
  'Vietnamese: a text among addresses',
  'Vietnamese: names, addresses and labels without a text',
  'Thai: a text among addresses',
  'Thai: names, addresses and labels without a text',
  'nothing but data',
];

describe('the text columns are chosen by their names and their words', () => {
  test.each(Object.keys(WRITERS) as (keyof typeof WRITERS)[])('in 49 of 54 tables: %s', async (file) => {
    const missed: string[] = [];
    // Parquet files are read by processes: the rows of some are enough to show the same choice.
    const tables = file === 'table.parquet' ? TABLES.filter((_, index) => index % 12 === 0) : TABLES;
    for (const table of tables) {
      const choice = await judged(table, file);
      const names = table.texts ?? [];
      const expected = {
        judged: names.map((name) => JSON.stringify(name)),
        texts:
          table.texts === null
            ? rowsOf(table.columns).map(() => 'no_text_column')
            : rowsOf(table.columns).map((row) =>
                names.flatMap((name) => (row[name]!.trim() === '' ? [] : row[name]!)).join('\n\n'),
              ),
      };
      const found = { judged: choice.tables[0]!.judged, texts: choice.texts };
      if (!isDeepStrictEqual(found, expected)) missed.push(table.name);
      expect(found.judged).toEqual(expect.arrayContaining(expected.judged));
    }
    expect(TABLES).toHaveLength(54);
    const names = tables.map(({ name }) => name);
    expect(missed).toEqual(TOO_MANY_JUDGED.filter((name) => names.includes(name)));
  });

  test('what is judged, why, and what is not are told', async () => {
    const { tables } = await judged(SETS[1]!, 'table.csv');
    expect(tables).toMatchObject([
      {
        files: 1,
        judged: ['"prompt"'],
        chosen_by: 'name',
        not_judged: ['"type"', '"label"', '"focus"', '"note"'],
      },
    ]);
    const found = await judged(SETS[2]!, 'table.csv');
    expect(found.tables).toMatchObject([
      {
        judged: ['"Behavior"', '"ContextString"'],
        chosen_by: 'content',
        not_judged: ['"FunctionalCategory"', '"SemanticCategory"', '"Tags"', '"BehaviorID"'],
      },
    ]);
  });
});
