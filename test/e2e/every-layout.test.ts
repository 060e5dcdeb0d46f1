import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { OutcomeLine } from '../../src/domain/outcome.ts';
import { finishedSummary } from '../../src/record/summary/finished-summary.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { folderWith, guardsweep, printedRun, temporaryFolder, type Finished } from '../helpers/cli.ts';
import { jsonl } from '../helpers/documents.ts';
import { filesOf, jsonLines, outcomes } from '../helpers/run-directory.ts';

/** Stands in every text, good or bad; whatever a run leaves behind must not hold it. */
const MARKER = 'Zebrafinkenkonzert';
const text = (name: string): string => `${MARKER} in ${name}`;

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
    [
      jsonl({ id: 'r1', text: text('jsonl') }),
      `{"text": "${text('cut')}\n`,
      jsonl({ id: 'r3', text: { nested: text('object') } }, text('a string'), { id: 'r5', text: '' }),
    ].join(''),
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
  for (const path of await filesOf(run))
    expect([path, (await readFile(join(run, path))).includes(MARKER)]).toEqual([path, false]);
  expect(done.stdout + done.stderr).not.toContain(MARKER);
}

describe('a corpus of every layout and every kind of bad row', () => {
  it('ends with one outcome an item, in order, and leaves no word of content behind', async () => {
    const files = FILES.map(([path, content]) => [`uploads/${path}`, content] as const);
    const cwd = await folderWith(Object.fromEntries(files));
    const done = await guardsweep(['enqueue', 'uploads', '--out', 'runs'], { cwd });
    expect(done.status).toBe(5);
    const run = printedRun(done);
    const lines = await outcomes(run);
    const bySource = new Map<string, string>();
    for (const { source, error } of lines) {
      const path = source.path.replace(/^uploads\//, '');
      bySource.set(path, `${bySource.get(path) ?? ''} ${error?.code ?? 'ok'}`);
    }
    expect([...bySource]).toEqual(FILES.map(([path, , expected]) => [path, ` ${expected}`]).sort());

    expect(lines.map((line) => line.seq)).toEqual(lines.map((_, index) => index));
    const errors = await jsonLines<OutcomeLine>(join(run, 'errors.jsonl'));
    expect(errors).toEqual(lines.filter((line) => line.status === 'error'));
    const summary = (await finishedSummary(run))!;
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
    const cwd = await folderWith({ 'bare.csv': [1, 2, 3].map(row).join('') });
    const done = await guardsweep(['enqueue', 'bare.csv'], { cwd });
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
    expect(lines.map(({ id, turn, coverage }) => [id, turn, coverage?.total])).toEqual(
      [1, 2, 3].map((turn) => [`talk#${turn}`, turn, turn]),
    );
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
    const summary = (await finishedSummary(run))!;
    // Every turn but the new one is found in the cache: 0+1+2 of 1+2+3 messages, and 0+1+2+3+4 of 1+2+3+4+5.
    const cache = { message_hits: 13, message_misses: 8, writes: 8, l1_evictions: 0, l2_evictions: 0 };
    expect(summary).toMatchObject({ cache });
    expect(done.stderr + done.stdout).toContain('61.9% of messages');
    expect(await verifyRun(run)).toMatchObject({ ok: true });
  });
});

const ABUSIVE = 'I will kill you and your whole family tonight';
const BAD: readonly number[] = [3, 8, 14, 15, 21, 27, 30, 36, 40];
const NUMBERS = Array.from({ length: 40 }, (_, index) => index + 1);

const says = (number: number): string =>
  BAD.includes(number) ? ABUSIVE : `see you at lunch number ${number}, bring the salad`;
const sender = (number: number): string => ['Ann', 'Bob', 'Cleo'][number % 3]!;
const dated = (number: number): string =>
  `31/12/2023, 21:${String(number).padStart(2, '0')} - ${sender(number)}: ${says(number)}\n`;

/** The same forty messages as applications export them. */
const CHATS: Record<string, string> = {
  'chats/WhatsApp Chat with Team.txt': NUMBERS.map(dated).join(''),
  'chats/slack/2024-01-01.json': JSON.stringify(
    NUMBERS.map((at) => ({ type: 'message', user: sender(at), text: says(at), ts: `${at}.01` })),
  ),
};

it('judges each message of a chat, and says which conversations it judged as a whole', async () => {
  const training = jsonl({ messages: [user(says(1)), assistant(says(1)), user(says(1))] });
  const cwd = await folderWith({ ...CHATS, 'chats/training.jsonl': training });
  const done = await guardsweep(['enqueue', 'chats', '--no-report'], { cwd });
  expect(done.status).toBe(0);
  const run = printedRun(done);
  const lines = await outcomes(run);
  for (const path of Object.keys(CHATS)) {
    const messages = lines.filter((line) => line.source.path === path);
    expect(messages.map((line) => line.source.row)).toEqual(NUMBERS);
    const flagged = messages.filter((line) => line.status === 'ok' && line.decision !== 'allow');
    expect({ path, flagged: flagged.map((line) => line.source.row) }).toEqual({ path, flagged: BAD });
  }
  const judged_as_whole = { conversations: 1, earlier_turns: 2 };
  expect(await finishedSummary(run)).toMatchObject({ items: 2 * 40 + 1, judged_as_whole });
  expect(done.stdout).toContain('1 conversation judged as a whole');
  expect(await verifyRun(run, {})).toMatchObject({ ok: true, items: 81 });

  expect(await guardsweep(['export', run, '--clean', 'clean'], { cwd })).toMatchObject({ status: 0 });
  for (const path of Object.keys(CHATS)) {
    const clean = await readFile(join(cwd, 'clean', path), 'utf8');
    expect(clean).not.toContain(ABUSIVE);
    expect(clean.match(/see you at lunch/g)).toHaveLength(31);
  }
});

const STREAMS = fileURLToPath(new URL('../../jobs/sample-streams/replies.jsonl', import.meta.url));

it('replays the sample with no settings, and says how early it would have been stopped', async () => {
  const done = await guardsweep(['enqueue', STREAMS, '--as-stream'], { cwd: await temporaryFolder() });
  expect(done.status).toBe(0);
  expect(done.stdout).toMatch(/^Judged 8 of 8 items; 0 not judged$/m);
  expect(done.stdout).toMatch(
    /^Flagged while streaming: 3 of 8 generations, half of them within the first /m,
  );
  const run = printedRun(done);
  const lines = await outcomes(run);
  expect(lines[1]).toMatchObject({ id: 'g-02', request_type: 'generation', decision: 'block' });
  const { chunks, first_flagged_seq: seq, shown_share_at_flag: share } = lines[1]!.stream!;
  expect(chunks).toBe(15);
  expect(seq).toBeGreaterThan(0);
  expect(share).toBeGreaterThan(0);
  expect(share).toBeLessThan(1);
  expect(lines[3]).toMatchObject({ decision: 'allow', stream: { chunks: 2, first_flagged_seq: null } });
  expect(await readFile(join(run, 'verdicts.csv'), 'utf8')).toMatch(/,shown_share_at_flag\r\n/);
  expect(await verifyRun(run)).toMatchObject({ ok: true });
});
