import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import type { Summary } from '../../src/record/summary/summary.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { guardsweep, temporaryFolder } from '../helpers/cli.ts';
import { onlyRun, outcomes } from '../helpers/run-directory.ts';

const ABUSIVE = 'I will kill you and your whole family tonight';
const BAD: readonly number[] = [3, 8, 14, 15, 21, 27, 30, 36, 40];
const NUMBERS = Array.from({ length: 40 }, (_, index) => index + 1);

const says = (number: number): string =>
  BAD.includes(number) ? ABUSIVE : `see you at lunch number ${number}, bring the salad`;
const sender = (number: number): string => ['Ann', 'Bob', 'Cleo'][number % 3]!;
const minute = (number: number): string => String(number).padStart(2, '0');

/** The same forty messages as applications export them. */
const CHATS: Record<string, string> = {
  'chats/WhatsApp Chat with Team.txt': NUMBERS.map(
    (number) => `31/12/2023, 21:${minute(number)} - ${sender(number)}: ${says(number)}\n`,
  ).join(''),
  'chats/discord.json': JSON.stringify({
    guild: { id: '1', name: 'G' },
    channel: { id: '2', name: 'general' },
    messages: NUMBERS.map((number) => ({
      id: String(9000 + number),
      timestamp: `2024-01-01T00:${minute(number)}:00+00:00`,
      content: says(number),
      author: { id: sender(number), name: sender(number) },
    })),
  }),
  'chats/slack/2024-01-01.json': JSON.stringify(
    NUMBERS.map((number) => ({
      type: 'message',
      user: sender(number),
      text: says(number),
      ts: `${number}.01`,
    })),
  ),
  'chats/telegram.json': JSON.stringify({
    name: 'Team',
    type: 'private_group',
    id: 7,
    messages: NUMBERS.map((number) => ({
      ...{ id: number, type: 'message', date: `2024-01-01T00:${minute(number)}:00` },
      ...{ from: sender(number), text: says(number) },
    })),
  }),
};

it('judges each message of a chat, and says which conversations it judged as a whole', async () => {
  const folder = await temporaryFolder();
  for (const [path, content] of Object.entries(CHATS)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  const turns = [1, 2, 3].map((number) => ({
    role: number % 2 === 1 ? 'user' : 'assistant',
    content: says(1),
  }));
  await writeFile(join(folder, 'chats/training.jsonl'), `${JSON.stringify({ messages: turns })}\n`);

  const done = await guardsweep(['enqueue', 'chats', '--out', 'runs'], { cwd: folder });
  expect(done.status).toBe(0);
  const run = await onlyRun(join(folder, 'runs'));
  const lines = await outcomes(run);
  for (const path of Object.keys(CHATS)) {
    const messages = lines.filter((line) => line.source.path === path);
    expect(messages.map((line) => line.source.row)).toEqual(NUMBERS);
    const flagged = messages.filter((line) => line.status === 'ok' && line.decision !== 'allow');
    expect({ path, flagged: flagged.map((line) => line.source.row) }).toEqual({ path, flagged: BAD });
  }
  const summary = JSON.parse(await readFile(join(run, 'summary.json'), 'utf8')) as Summary;
  expect(summary.items).toBe(4 * 40 + 1);
  expect(summary.judged_as_whole).toEqual({ conversations: 1, earlier_turns: 2 });
  expect(done.stdout).toContain('1 conversation judged as a whole');
  expect(await verifyRun(run, {})).toMatchObject({ ok: true, items: 161 });

  const cleaned = await guardsweep(['export', run, '--clean', 'clean'], { cwd: folder });
  expect(cleaned.status).toBe(0);
  for (const path of ['chats/WhatsApp Chat with Team.txt', 'chats/slack/2024-01-01.json']) {
    const clean = await readFile(join(folder, 'clean', path), 'utf8');
    expect(clean).not.toContain(ABUSIVE);
    expect(clean.match(/see you at lunch/g)).toHaveLength(31);
  }
});
