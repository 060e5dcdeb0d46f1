import { rmSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { recordBytesLimit } from '../../../src/formats/record.ts';
import { corpus, readItems, testFolder, inspect } from '../read-items.ts';

const KB = 1024;

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

  async function outcomes(name: string, content: string, itemBytes: number) {
    const path = folder.at(name);
    writeFileSync(path, content);
    const items = await readItems([corpus(folder.path)], itemBytes);
    rmSync(path);
    return items.map(({ id, request, settled, source: { row } }) => {
      const error = settled?.error;
      const text = request !== null && 'text' in request ? request.text : null;
      return {
        row,
        id,
        text: text?.trimEnd(),
        code: error?.code,
        message: error?.message,
        reason: error?.reason,
      };
    });
  }

  const ITEM_BYTES = 600 * KB;
  const RECORD_BYTES = recordBytesLimit(ITEM_BYTES);
  const SHORT = 10;
  const TOO_LARGE = 'ITEM_TOO_LARGE';
  const around = (bytes: number) => fc.integer({ min: bytes - 200, max: bytes + 200 });
  const size = fc.oneof(
    { weight: 4, arbitrary: fc.constant(SHORT) },
    fc.integer({ min: SHORT, max: 300 * KB }),
    around(64 * KB),
    around(256 * KB),
    around(512 * KB),
    around(ITEM_BYTES),
    around(1024 * KB),
    around(RECORD_BYTES - 1000),
    around(RECORD_BYTES + 1000),
    fc.constant(RECORD_BYTES + 300 * KB),
  );
  /** What a record holds, and which of its values is as long as said. */
  const record = fc.record({
    size,
    kind: fc.constantFrom('review', 'review', 'review', 'both', 'none', 'text'),
  });

  const otherWords = (index: number) => `other words of ${index}`;

  function row(kind: string, index: number, bytes: number): Row {
    const words = `some words of ${index}`.padEnd(bytes);
    const id = `r_${index}`;
    switch (kind) {
      case 'both':
        return { id, review_words: otherWords(index), other_words: words };
      case 'none':
        return { id, gap: ''.padEnd(bytes) };
      case 'text':
        return { id, review_words: 'words', text: words };
      default:
        return { id, review_words: words };
    }
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
        const expected =
          short.length === 0
            ? []
            : (await outcomes(name, laidOut(short, rows), ITEM_BYTES)).map((outcome) => {
                if (outcome.row === null) return outcome;
                const at = rowsHeld[outcome.row - 1]!;
                const { kind, size: bytes } = records[at - 1]!;
                const joined = kind === 'both' ? `${otherWords(at - 1)}\n\n`.length : 0;
                const isTooLarge = bytes + joined > ITEM_BYTES && outcome.code === undefined;
                return isTooLarge ? { id: outcome.id, row: at, code: TOO_LARGE } : { ...outcome, row: at };
              });
        const found = await outcomes(name, laidOut(rows, rows), ITEM_BYTES);
        const beyond = found.filter(({ row: at }) => at !== null && !held[at - 1]);
        expect(beyond.every(({ code }) => code === TOO_LARGE)).toBe(true);
        const compared = found
          .filter((outcome) => !beyond.includes(outcome))
          .map((outcome) =>
            outcome.code === TOO_LARGE ? { id: outcome.id, row: outcome.row, code: TOO_LARGE } : outcome,
          );
        expect(compared).toEqual(expected);
        const isRefused = found.some(({ row: at }) => at === null);
        if (!isRefused) expect(beyond).toHaveLength(held.filter((isHeld) => !isHeld).length);
      }),
      { seed, numRuns: 8 },
    );
  });

  test('a record without a recognised text says whether it has one', async () => {
    const known = { id: 'a', text: 'words' };
    const unknown = { id: 'b', review_words: 'some words', other_words: 'other words' };
    const none = { id: 'c', gap: ' ' };
    const records = [known, unknown, none];
    expect(await outcomes('a.jsonl', LAYOUTS['a.jsonl']!(records, records), ITEM_BYTES)).toMatchObject([
      { text: 'words' },
      { code: 'UNSUPPORTED_TYPE', message: 'no column of the record is recognised as its text' },
      { code: 'MISSING_PAYLOAD', message: 'the record has no text to judge' },
    ]);
    for (const alone of [[unknown], [none]]) {
      expect(await outcomes('a.jsonl', LAYOUTS['a.jsonl']!(alone, alone), ITEM_BYTES)).toMatchObject([
        {
          code: 'UNSUPPORTED_TYPE',
          message: 'no column of the file is recognised as its text',
          reason: 'no_text_column',
        },
      ]);
    }
  });

  test('a named file is taken or refused by its first record of any size', async () => {
    for (const bytes of [20, 2048 * KB]) {
      for (const [name, laidOut] of Object.entries(LAYOUTS)) {
        const path = folder.at(name);
        const inspected = (rows: readonly Row[]) => {
          writeFileSync(path, laidOut(rows, rows));
          return inspect([corpus(path)]);
        };
        const words = 'words'.padEnd(bytes);
        const more = { id: 'b', review_words: 'words' };
        expect((await inspected([{ id: 'a', review_words: words }, more])).unjudgedColumns).toEqual([]);
        await expect(inspected([{ id: 'a', review_words: words, other_words: 'two' }])).rejects.toThrow(
          'no column recognised as its text',
        );
      }
    }
  });
});
