import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { OutcomeLine } from '../../src/domain/outcome.ts';
import type { Summary } from '../../src/record/summary/summary.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { folderWith, guardsweep, printedRun, type Finished } from '../helpers/cli.ts';
import { jsonLines, outcomes } from '../helpers/run-directory.ts';

/** Stands in every text, good or bad; whatever a run leaves behind must not hold it. */
const MARKER = 'Zebrafinkenkonzert';
const text = (name: string): string => `${MARKER} in ${name}`;

const jsonl = (...records: unknown[]): string =>
  records.map((record) => (typeof record === 'string' ? record : JSON.stringify(record))).join('\n') + '\n';

const EVERY_TURN = ['enqueue', 'chat.jsonl', '--audit', 'every-turn', '--no-reuse'];

const user = (content: unknown) => ({ role: 'user', content });
const assistant = (content: unknown) => ({ role: 'assistant', content });

/** Each file with the outcomes its items must have, in order: `ok`, or a code. */
const FILES: readonly (readonly [path: string, content: string | Buffer, outcomes: string])[] = [
  [
    'a/bad.csv',
    Buffer.concat([
      Buffer.from(`id,text,note\n1,${text('row')},x\n2,${text('short')}\n3,"${text('many\nlines')}",x\n`),
      Buffer.from(`4,${text('latin ')}`),
      Buffer.from([0xe9, 0x20, 0xff]),
      Buffer.from(`,x\n5,"${text('stray')}" quote,x\n6,   ,x\n7,${text('long')},x,y\n8,${text('last')},x\n`),
    ]),
    'ok MALFORMED_ROW ok INVALID_ENCODING MALFORMED_ROW EMPTY_CONTENT MALFORMED_ROW ok',
  ],
  ['a/wide-header.csv', `id,comment,approve,reject\n1,${text('one')}\n2,${text('two')}\n`, 'ok ok'],
  ['a/trailing.csv', `id,comment\r\n1,${text('one')},\r\n2,${text('two')},,\r\n`, 'ok ok'],
  ['a/newline.json', `[{"text":"${text('one')}"},{"text":"${text('two\n')}"}]`, 'ok MALFORMED_ROW'],
  ['a/good.tsv', `id\tbody\n1\t${text('tsv')}\n`, 'ok'],
  ['a/semicolon.csv', `\ufeffid;comment\r\n1;${text('semicolon')}\r\n2;"${text('a;b')}"\r\n`, 'ok ok'],
  [
    'a/unclosed.csv',
    `id,text\n1,${text('one')}\n2,"${text('open')}\n3,${text('three')}\n`,
    'ok MALFORMED_ROW ok',
  ],
  [
    'b/records.jsonl',
    jsonl(
      { id: 'r1', text: text('jsonl') },
      `{"text": "${text('cut')}`,
      { id: 'r3', text: { nested: text('object') } },
      JSON.stringify(text('a string')),
      { id: 'r5', text: '' },
    ),
    'ok MALFORMED_ROW ok ok EMPTY_CONTENT',
  ],
  ['b/records.jsonl.gz', gzipSync(jsonl({ text: text('gz') }, { text: text('gz 2') })), 'ok ok'],
  [
    'b/array.json',
    `[{"id": "x", "text": "${text('array')}"},\n {"text": "${text('bad')}" oops}]`,
    'ok MALFORMED_ROW',
  ],
  [
    'c/messages.jsonl',
    jsonl(
      { id: 'm1', messages: [user(text('user')), assistant(text('assistant'))] },
      { id: 'm2', messages: [user([{ type: 'text', text: text('part') }])] },
      { id: 'm3', messages: [user(text('u')), { role: 'wizard', content: text('w') }] },
      { id: 'm4', messages: [user(text('u')), { role: 'system', content: text('s') }] },
      { id: 'm5', messages: [] },
      { id: 'm6', messages: [user('  ')] },
    ),
    'ok ok INVALID_ROLE INVALID_CONVERSATION INVALID_CONVERSATION EMPTY_CONTENT',
  ],
  ['c/sharegpt.jsonl', jsonl({ conversations: [{ from: 'human', value: text('h') }] }), 'ok'],
  ['c/pairs.json', JSON.stringify([[['user', text('p')]], [['user', text('q')]]]), 'ok ok'],
  [
    'd/pairs.jsonl',
    jsonl(
      { id: 'p1', prompt: text('prompt'), response: text('response') },
      { id: 'p2', instruction: text('do'), input: text('this'), output: text('done') },
      { id: 'p3', prompt: text('which'), chosen: text('one'), rejected: text('other') },
    ),
    'ok ok ok ok',
  ],
  [
    'd/batch.jsonl',
    jsonl({ custom_id: 'b1', method: 'POST', url: '/v1/moderations', body: { input: text('batch') } }),
    'ok',
  ],
  ['e/note.txt', text('a note'), 'ok'],
  ['e/note.md', `# ${text('a heading')}\n`, 'ok'],
  ['e/empty.txt', '', 'EMPTY_CONTENT'],
  ['e/utf16.txt', Buffer.from(`\ufeff${text('utf-16')}`, 'utf16le'), 'ok'],
  ['e/picture.txt', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), 'CORRUPT_MEDIA'],
  ['e/paper.pdf', `%PDF-1.7\n${text('pdf')}`, 'UNREADABLE_SOURCE'],
  ['e/cut.jsonl.gz', gzipSync(jsonl({ text: text('cut gz') })).subarray(0, 40), 'UNREADABLE_SOURCE'],
  ['f/large.jsonl', jsonl({ text: MARKER.repeat(1_100_000) }, { text: text('after') }), 'ITEM_TOO_LARGE ok'],
];

/** That neither the run directory nor what was printed holds content. */
async function expectNoContent(done: Finished): Promise<void> {
  const run = printedRun(done);
  for (const entry of await readdir(run, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    expect({ path, holds: (await readFile(path)).includes(MARKER) }).toEqual({ path, holds: false });
  }
  expect(done.stdout + done.stderr).not.toContain(MARKER);
}

describe('a corpus of every layout and every kind of bad row', () => {
  it('ends with one outcome an item, in order, and leaves no word of content behind', async () => {
    const folder = await folderWith(
      Object.fromEntries(FILES.map(([path, content]) => [`uploads/${path}`, content])),
    );
    const done = await guardsweep(['enqueue', 'uploads', '--out', 'runs'], { cwd: folder });
    expect(done.status).toBe(5);
    const run = printedRun(done);
    const lines = await outcomes(run);
    const bySource = new Map<string, string>();
    for (const { source, error } of lines) {
      const path = source.path.replace(/^uploads\//, '');
      const before = bySource.has(path) ? `${bySource.get(path)} ` : '';
      bySource.set(path, before + (error?.code ?? 'ok'));
    }
    expect([...bySource]).toEqual(FILES.map(([path, , expected]) => [path, expected]).sort());

    expect(lines.map((line) => line.seq)).toEqual(lines.map((_, index) => index));
    const errors = await jsonLines<OutcomeLine>(join(run, 'errors.jsonl'));
    expect(errors).toEqual(lines.filter((line) => line.status === 'error'));
    const summary = JSON.parse(await readFile(join(run, 'summary.json'), 'utf8')) as Summary;
    expect(summary.items).toBe(lines.length);
    expect(summary.fitted_headers).toEqual([expect.stringMatching(/a\/wide-header\.csv$/)]);
    expect(summary.verdicts + summary.errors).toBe(lines.length);
    expect(done.stdout.split('\n')[0]).toBe(
      `Judged ${summary.verdicts} of ${lines.length} items; ${summary.errors} not judged`,
    );
    expect(await verifyRun(run, {})).toMatchObject({ ok: true, items: lines.length });

    await expectNoContent(done);
  });

  it('shows no content either when a table has no header', async () => {
    const row = (at: number): string =>
      `${text('a sentence that somebody wrote')} ${at},${text('another of theirs')}\n`;
    const folder = await folderWith({ 'bare.csv': [1, 2, 3].map(row).join('') });
    const done = await guardsweep(['enqueue', 'bare.csv'], { cwd: folder });
    expect(done.status).toBe(0);
    expect(done.stdout).toContain('Judged as text by what they hold: 1, 2 in bare.csv');
    await expectNoContent(done);
  });

  it('judges a conversation at every turn, in order, when asked to (C-416)', async () => {
    const messages = [user('first'), assistant('second'), user('third')];
    const cwd = await folderWith({ 'chat.jsonl': jsonl({ id: 'talk', messages }) });
    const done = await guardsweep([...EVERY_TURN, '--no-report'], { cwd });
    expect(done.status).toBe(0);
    const lines = await outcomes(printedRun(done));
    expect(lines.map(({ id, coverage }) => [id, coverage?.total])).toEqual([
      ['talk#1', 1],
      ['talk#2', 2],
      ['talk#3', 3],
    ]);
    expect(lines.map(({ turn }) => turn)).toEqual([1, 2, 3]);
    expect(lines[2]?.cache_usage).toHaveLength(8);
  });

  it('says how much of the cache the turns of conversations reused (C-216)', async () => {
    const threat = 'how do I build a pipe bomb to kill people at school';
    const talk = (id: string, ...texts: string[]) => ({
      id,
      messages: texts.map((text, index) => (index % 2 === 0 ? user(text) : assistant(text))),
    });
    const calm = talk('calm', 'hello', 'hi', 'lovely day');
    const tipped = talk('tipped', 'hello', 'hi', threat, 'please calm down', 'sorry, good night');
    const cwd = await folderWith({ 'chat.jsonl': jsonl(calm, tipped) });
    const done = await guardsweep([...EVERY_TURN, '--no-report'], { cwd });
    expect(done.status).toBe(0);
    const run = printedRun(done);
    const summary = JSON.parse(await readFile(join(run, 'summary.json'), 'utf8')) as Summary;
    // Every turn but the new one is found in the cache: 0+1+2 of 1+2+3 messages, and 0+1+2+3+4 of 1+2+3+4+5.
    expect(summary.cache).toMatchObject({
      ...{ message_hits: 13, message_misses: 8, writes: 8, l1_evictions: 0, l2_evictions: 0 },
    });
    expect(done.stderr + done.stdout).toContain('61.9% of messages');
    expect(await verifyRun(run)).toMatchObject({ ok: true });
  });
});
