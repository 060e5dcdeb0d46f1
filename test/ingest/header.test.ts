import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS, type SourceConfig } from '../../src/config/run-config.ts';
import { expandSources } from '../../src/ingest/expand.ts';
import { inspectSources } from '../../src/ingest/inspect.ts';
import { corpus, NEVER, readItems } from './read-items.ts';

describe('the header of a table', () => {
  let root: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'guardsweep-header-'));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  function write(content: string): string {
    const path = join(root, 'a.csv');
    writeFileSync(path, content);
    return path;
  }

  async function texts(content: string, overrides: Partial<SourceConfig> = {}) {
    const items = await readItems([corpus(write(content), overrides)]);
    return items.map(({ request }) => (request !== null && 'text' in request ? request.text : null));
  }

  test.each([
    [
      '1,I hate all of you\n2,good morning\n3,see you soon\n',
      ['I hate all of you', 'good morning', 'see you soon'],
    ],
    ['hello there\nI hate all of you\nbye\n', ['hello there', 'I hate all of you', 'bye']],
    ['hello\nyou\n', ['hello', 'you']],
    ['I hate all of you\n', ['I hate all of you']],
    ['2024-01-05,first words\n2024-01-06,other words\n', ['first words', 'other words']],
    ['1;"One, two."\n2;"Three."\n', ['One, two.', 'Three.']],
  ])('is missing: %j', async (content, expected) => {
    expect(await texts(content)).toEqual(expected);
    const configs = [corpus(write(content))];
    const { sources } = await expandSources(configs, NEVER);
    expect(await inspectSources(sources, configs, DEFAULT_LIMITS.itemBytes, NEVER)).toMatchObject({
      withoutHeader: ['a.csv'],
    });
  });

  test.each([
    ['id,text\n1,one\n2,two\n', ['one', 'two']],
    ['Tweet\nhello there\n', ['hello there']],
    ['review_body\nhello there\n', ['hello there']],
    ['Customer feedback\nhello there\n', ['hello there']],
    ['age,remark made by them\n31,hello\n32,bye\n', ['hello', 'bye']],
    ['text\n', []],
    ['first,second\n', []],
  ])('is there: %j', async (content, expected) => {
    expect(await texts(content)).toEqual(expected);
  });

  test('is there or not as the user says', async () => {
    expect(await texts('1,one\n2,two\n', { header: 'yes' })).toEqual(['two']);
    expect(await texts('id,text\n1,one\n', { header: 'no', textColumns: ['2'] })).toEqual(['text', 'one']);
    expect(await texts('remarks\nhello there\n', { textColumns: ['remarks'] })).toEqual(['hello there']);
    expect(await texts('alpha,beta\ngamma,delta\n', { textColumns: ['2'], idColumn: '1' })).toEqual([
      'beta',
      'delta',
    ]);
  });

  test('without one, rows count from the first line, and ids are positions', async () => {
    const path = write('7,I hate all of you\n8,"two\nlines"\n9,"bad\n');
    const items = await readItems([corpus(path)]);
    expect(items.map(({ id, source: { row, line } }) => [id, row, line])).toEqual([
      ['a.csv#1', 1, 1],
      ['a.csv#2', 2, 2],
      ['a.csv#3', 3, 4],
    ]);
    expect(items.map(({ error }) => error?.code)).toEqual([undefined, undefined, 'MALFORMED_ROW']);
    const [first] = await readItems([corpus(path, { idColumn: '1' })]);
    expect(first!.id).toBe('7');
  });

  test('without one, columns to choose from are named by their positions', async () => {
    const configs = [corpus(write('one of these.,another one.\nthird one.,fourth one.\n'))];
    const { sources } = await expandSources(configs, NEVER);
    const failure = await inspectSources(sources, configs, DEFAULT_LIMITS.itemBytes, NEVER).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ message: expect.stringMatching(/among: 1, 2$/) as string });
  });
});
