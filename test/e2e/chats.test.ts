import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Summary } from '../../src/record/summary/summary.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { folderWith, guardsweep, printedRun } from '../helpers/cli.ts';
import { outcomes } from '../helpers/run-directory.ts';

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
  'chats/slack/2024-01-01.json': JSON.stringify(
    NUMBERS.map((number) => ({
      type: 'message',
      user: sender(number),
      text: says(number),
      ts: `${number}.01`,
    })),
  ),
};

it('judges each message of a chat, and says which conversations it judged as a whole', async () => {
  const turns = ['user', 'assistant', 'user'].map((role) => ({ role, content: says(1) }));
  const training = `${JSON.stringify({ messages: turns })}\n`;
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
  const summary = JSON.parse(await readFile(join(run, 'summary.json'), 'utf8')) as Summary;
  expect(summary.items).toBe(2 * 40 + 1);
  expect(summary.judged_as_whole).toEqual({ conversations: 1, earlier_turns: 2 });
  expect(done.stdout).toContain('1 conversation judged as a whole');
  expect(await verifyRun(run, {})).toMatchObject({ ok: true, items: 81 });

  const cleaned = await guardsweep(['export', run, '--clean', 'clean'], { cwd });
  expect(cleaned.status).toBe(0);
  for (const path of Object.keys(CHATS)) {
    const clean = await readFile(join(cwd, 'clean', path), 'utf8');
    expect(clean).not.toContain(ABUSIVE);
    expect(clean.match(/see you at lunch/g)).toHaveLength(31);
  }
});
