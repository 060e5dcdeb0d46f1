import { rmSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { recordBytesLimit } from '../../../src/formats/record.ts';
import { corpus, readItems, testFolder } from '../read-items.ts';

const KB = 1024;
const ITEM_BYTES = 600 * KB;
const RECORD_BYTES = recordBytesLimit(ITEM_BYTES);

/** The columns of the records here. A table has those that one of `all` has. */
const COLUMNS = ['id', 'review_words', 'other_words', 'text', 'gap'] as const;

type Row = Partial<Record<(typeof COLUMNS)[number], string>>;

const cell = (value: string) => `"${value.replaceAll('"', '""')}"`;

const LAYOUTS: Readonly<Record<string, (rows: readonly Row[], all: readonly Row[]) => string>> = {
  'a.csv': (rows, all) => {
    const names = COLUMNS.filter((name) => all.some((row) => row[name] !== undefined));
    return [names, ...rows.map((row) => names.map((name) => row[name] ?? ''))]
      .map((cells) => `${cells.map(cell).join(',')}\n`)
      .join('');
  },
  'a.jsonl': (rows) => rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
  'a.json': (rows) => JSON.stringify(rows),
  'pretty.json': (rows) => JSON.stringify(rows, null, 2),
  'unnamed array': (rows) => JSON.stringify(rows),
  'around.json': (rows) => JSON.stringify({ version: 1, rows }),
};

describe('what a file is sampled for, whatever the size of its records', () => {
  const folder = testFolder();

  async function outcomes(name: string, content: string) {
    const path = folder.write(name, content);
    const items = await readItems([corpus(folder.at())], { itemBytes: ITEM_BYTES });
    rmSync(path);
    return items.map(({ id, request, settled, source: { row } }) => {
      const text = request !== null && 'text' in request ? request.text.trimEnd() : undefined;
      return { row, id, text, code: settled?.error?.code, reason: settled?.error?.reason };
    });
  }

  const SHORT = 10;
  const TOO_LARGE = 'ITEM_TOO_LARGE';
  const around = (bytes: number) => fc.integer({ min: bytes - 200, max: bytes + 200 });
  const bounds = [
    64 * KB,
    256 * KB,
    512 * KB,
    ITEM_BYTES,
    1024 * KB,
    RECORD_BYTES - 1000,
    RECORD_BYTES + 1000,
  ];
  const size = fc.oneof(
    { weight: 4, arbitrary: fc.constant(SHORT) },
    fc.integer({ min: SHORT, max: 300 * KB }),
    ...bounds.map(around),
    fc.constant(RECORD_BYTES + 300 * KB),
  );
  /** What a record holds, and which of its values is as long as said. */
  const kinds = fc.constantFrom('review', 'review', 'review', 'both', 'none', 'text');
  const record = fc.record({ size, kind: kinds });

  const otherWords = (index: number) => `other words of ${index}`;

  function row(kind: string, index: number, bytes: number): Row {
    const words = `some words of ${index}`.padEnd(bytes);
    const id = `r_${index}`;
    if (kind === 'both') return { id, review_words: otherWords(index), other_words: words };
    if (kind === 'none') return { id, gap: ''.padEnd(bytes) };
    return kind === 'text' ? { id, review_words: 'words', text: words } : { id, review_words: words };
  }

  const seed = Date.now() & 0x7fffffff;

  test.each(Object.keys(LAYOUTS))(`%s gives what short records give (seed ${seed})`, async (name) => {
    const laidOut = LAYOUTS[name]!;
    await fc.assert(
      fc.asyncProperty(fc.array(record, { minLength: 1, maxLength: 5 }), async (records) => {
        const rows = records.map(({ kind, size: bytes }, index) => row(kind, index, bytes));
        // A record that cannot be held is as good as not there: nothing is decided by it.
        const held = records.map(({ size: bytes }) => bytes < RECORD_BYTES);
        const short = records.map(({ kind }, index) => row(kind, index, SHORT)).filter((_, at) => held[at]);
        const rowsHeld = held.flatMap((isHeld, index) => (isHeld ? [index + 1] : []));
        const expected = short.length === 0 ? [] : await outcomes(name, laidOut(short, rows));
        const asHeld = expected.map((outcome) => {
          if (outcome.row === null) return outcome;
          const at = rowsHeld[outcome.row - 1]!;
          const { kind, size: bytes } = records[at - 1]!;
          const joined = kind === 'both' ? `${otherWords(at - 1)}\n\n`.length : 0;
          const isTooLarge = bytes + joined > ITEM_BYTES && outcome.code === undefined;
          return isTooLarge ? { id: outcome.id, row: at, code: TOO_LARGE } : { ...outcome, row: at };
        });
        const found = await outcomes(name, laidOut(rows, rows));
        const beyond = found.filter(({ row: at }) => at !== null && !held[at - 1]);
        expect(beyond.every(({ code }) => code === TOO_LARGE)).toBe(true);
        const compared = found.filter((outcome) => !beyond.includes(outcome));
        const shortOf = ({ id, row: at, code }: (typeof found)[number]) => ({ id, row: at, code });
        expect(compared.map((outcome) => (outcome.code === TOO_LARGE ? shortOf(outcome) : outcome))).toEqual(
          asHeld,
        );
        const isRefused = found.some(({ row: at }) => at === null);
        if (!isRefused) expect(beyond).toHaveLength(held.filter((isHeld) => !isHeld).length);
      }),
      { seed, numRuns: 8 },
    );
  });

  test('a record without a recognised text says whether it has one', async () => {
    const unknown = { id: 'b', review_words: 'some words', other_words: 'other words' };
    const none = { id: 'c', gap: ' ' };
    const codes = async (...rows: readonly Row[]) =>
      (await outcomes('a.jsonl', LAYOUTS['a.jsonl']!(rows, rows))).map(({ code }) => code ?? 'ok').join(' ');
    expect(await codes({ id: 'a', text: 'words' }, unknown, none)).toBe(
      'ok UNSUPPORTED_TYPE MISSING_PAYLOAD',
    );
    for (const only of [unknown, none]) expect(await codes(only)).toBe('UNSUPPORTED_TYPE');
  });
});
