import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { OutcomeLine } from '../../../src/domain/outcome.ts';
import { writeFiles } from '../../helpers/cli.ts';
import { drawn } from '../../helpers/pictures.ts';
import { site } from './rescans.ts';

const table = (...texts: readonly string[]): string =>
  `id,text\n${texts.map((text, row) => `r${row},${text}\n`).join('')}`;

function chat(...contents: readonly string[]): string {
  const messages = contents.map((content, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content }));
  return `${JSON.stringify({ messages })}\n`;
}

/** By place of the item, the number of the night whose run judged it. */
function judgedOn(lines: readonly OutcomeLine[], nights: readonly string[]): Record<string, number> {
  return Object.fromEntries(
    lines.map(({ source: { path, row }, turn, run, reused_from: from }) => [
      [path.replace('uploads/', ''), row, turn].filter((part) => part !== null).join(':'),
      1 + nights.indexOf(from ?? run),
    ]),
  );
}

it('a folder that changes is judged every night where it changed, and all of it by a new model', async () => {
  const { uploads, guard, scan } = await site();
  const nights: string[] = [];
  const night = async () => {
    const found = await scan({ audit: 'every-turn' });
    nights.push(found.run.record.run);
    return found;
  };
  await mkdir(join(uploads, 'old'));
  const broken = await drawn(300, 400).png().toBuffer();
  await writeFiles(uploads, {
    'comments.csv': table('one', 'two', 'three'),
    'chats.jsonl': chat('hello', 'good day', 'what is new?') + chat('hello', 'good day', 'tell me more'),
    ...{ 'note.txt': 'a note', 'old/letter.txt': 'a letter', 'gone.txt': 'gone soon' },
    'picture.png': await drawn(40, 30).png().toBuffer(),
    'broken.png': broken.subarray(0, broken.length / 2),
  });
  const first = await night();
  expect(first.summary).toMatchObject({ items: 14, errors: 1, reused: 0 });
  expect(first.taken).toEqual([
    ...['a letter', 'a note', ...Array<string>(6).fill('conversation')],
    ...['gone soon', 'image', 'one', 'three', 'two'],
  ]);

  await rename(join(uploads, 'old', 'letter.txt'), join(uploads, 'moved.txt'));
  await rm(join(uploads, 'gone.txt'));
  await writeFiles(uploads, {
    'comments.csv': table('zero', 'one', 'two', 'three and more'),
    ...{ 'note.txt': 'a changed note', 'added.txt': 'added', 'broken.png': broken },
  });
  const second = await night();
  expect(second.taken).toEqual(['a changed note', 'added', 'image', 'three and more', 'zero']);
  expect(second.summary).toMatchObject({ items: 15, errors: 0, reused: 10 });
  expect(judgedOn(second.lines, nights)).toEqual({
    ...{ 'added.txt': 2, 'broken.png': 2, 'picture.png': 1, 'note.txt': 2, 'moved.txt': 1 },
    ...{ 'comments.csv:1': 2, 'comments.csv:2': 1, 'comments.csv:3': 1, 'comments.csv:4': 2 },
    ...{ 'chats.jsonl:1:1': 1, 'chats.jsonl:1:2': 1, 'chats.jsonl:1:3': 1 },
    ...{ 'chats.jsonl:2:1': 1, 'chats.jsonl:2:2': 1, 'chats.jsonl:2:3': 1 },
  });

  const { id: newModel } = guard.server.synthetic!.swapVersion();
  const third = await night();
  expect(third.taken).toHaveLength(15);
  expect(new Set(third.lines.map(({ fingerprint }) => fingerprint))).toEqual(new Set([newModel]));
  const fourth = await night();
  expect(fourth.taken).toEqual([]);
  expect(new Set(Object.values(judgedOn(fourth.lines, nights)))).toEqual(new Set([3]));
});
