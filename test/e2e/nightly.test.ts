import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { OutcomeLine } from '../../src/domain/outcome.ts';
import type { Summary } from '../../src/record/summary/summary.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { guardsweep, temporaryFolder } from '../helpers/cli.ts';
import { countingGuard } from '../helpers/guards/counting-guard.ts';
import { drawn } from '../helpers/pictures.ts';
import { outcomes } from '../helpers/run-directory.ts';

const table = (...texts: readonly string[]): string =>
  `id,text\n${texts.map((text, row) => `r${row},${text}\n`).join('')}`;

function chat(...contents: readonly string[]): string {
  const messages = contents.map((content, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content }));
  return `${JSON.stringify({ messages })}\n`;
}

/** By place of the item, the number of the night whose run judged it. */
function judgedOn(lines: readonly OutcomeLine[], nights: readonly Summary[]): Record<string, number> {
  const names = nights.map(({ run }) => run);
  return Object.fromEntries(
    lines.map(({ source: { path, row }, turn, run, reused_from: from }) => [
      [path.replace('uploads/', ''), row, turn].filter((part) => part !== null).join(':'),
      1 + names.indexOf(from ?? run),
    ]),
  );
}

it(
  'a folder that changes is judged every night where it changed, and all of it by a new model',
  { timeout: 60_000 },
  async () => {
    const guard = await countingGuard();
    const folder = await temporaryFolder();
    const uploads = join(folder, 'uploads');
    const write = (name: string, content: string | Buffer): Promise<void> =>
      writeFile(join(uploads, name), content);
    const nights: Summary[] = [];
    const scan = async (status: number) => {
      const args = [
        'uploads',
        '--guard',
        guard.server.address,
        '--audit',
        'every-turn',
        '--canaries',
        'off',
        '--json',
      ];
      const done = await guardsweep(['enqueue', ...args], { cwd: folder });
      expect(done).toMatchObject({ status });
      const summary = JSON.parse(done.stdout) as Summary;
      nights.push(summary);
      expect(await verifyRun(summary.dir, {})).toMatchObject({ ok: true });
      return { summary, judged: guard.taken(), lines: await outcomes(summary.dir) };
    };

    await mkdir(join(uploads, 'old'), { recursive: true });
    await write('comments.csv', table('one', 'two', 'three'));
    await write(
      'chats.jsonl',
      chat('hello', 'good day', 'what is new?') + chat('hello', 'good day', 'tell me more'),
    );
    await write('note.txt', 'a note');
    await write('old/letter.txt', 'a letter');
    await write('gone.txt', 'gone soon');
    await write('picture.png', await drawn(40, 30).png().toBuffer());
    const broken = await drawn(300, 400).png().toBuffer();
    await write('broken.png', broken.subarray(0, broken.length / 2));

    const first = await scan(5);
    expect(first.summary).toMatchObject({ items: 14, errors: 1, reused: 0 });
    expect(first.judged).toEqual([
      ...['a letter', 'a note', ...Array<string>(6).fill('conversation')],
      ...['gone soon', 'image', 'one', 'three', 'two'],
    ]);

    await write('comments.csv', table('zero', 'one', 'two', 'three and more'));
    await rename(join(uploads, 'old', 'letter.txt'), join(uploads, 'moved.txt'));
    await rm(join(uploads, 'gone.txt'));
    await write('note.txt', 'a changed note');
    await write('added.txt', 'added');
    await write('broken.png', broken);
    const second = await scan(0);
    expect(second.judged).toEqual(['a changed note', 'added', 'image', 'three and more', 'zero']);
    expect(second.summary).toMatchObject({ items: 15, errors: 0, reused: 10 });
    expect(judgedOn(second.lines, nights)).toEqual({
      ...{ 'added.txt': 2, 'broken.png': 2, 'picture.png': 1, 'note.txt': 2, 'moved.txt': 1 },
      ...{ 'comments.csv:1': 2, 'comments.csv:2': 1, 'comments.csv:3': 1, 'comments.csv:4': 2 },
      ...{ 'chats.jsonl:1:1': 1, 'chats.jsonl:1:2': 1, 'chats.jsonl:1:3': 1 },
      ...{ 'chats.jsonl:2:1': 1, 'chats.jsonl:2:2': 1, 'chats.jsonl:2:3': 1 },
    });

    const { id: newModel } = guard.server.synthetic!.swapVersion();
    const third = await scan(0);
    expect(third.judged).toHaveLength(15);
    expect(third.summary).toMatchObject({ items: 15, reused: 0 });
    expect(new Set(third.lines.map(({ fingerprint }) => fingerprint))).toEqual(new Set([newModel]));

    const fourth = await scan(0);
    expect(fourth.judged).toEqual([]);
    expect(new Set(Object.values(judgedOn(fourth.lines, nights)))).toEqual(new Set([3]));
  },
);
