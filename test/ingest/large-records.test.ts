import { expect, test } from 'vitest';
import { corpus, readItems, testFolder } from './read-items.ts';

const folder = testFolder();

/** More than fit the stack as the arguments of a call. */
const MANY = 150_000;

const repeated = (value: unknown): string => Array<string>(MANY).fill(JSON.stringify(value)).join();
const pictures = `[${repeated({ type: 'image_url' })}]`;

test.each<[name: string, record: string, items: number]>([
  ['attachments in a message', `{"messages":[{"role":"user","content":${pictures}}]}`, MANY],
  [
    'attachments on one side of a pair',
    `{"chosen":[{"role":"user","content":${pictures}}],"rejected":"no"}`,
    MANY + 1,
  ],
  ['turns, each judged', `{"chosen":[${repeated(['user', 'a'])}],"rejected":"no"}`, MANY + 1],
])('a record with as many %s is read', async (_, record, count) => {
  const path = folder.write('a.jsonl', `${record}\n`);
  expect(await readItems([corpus(path, { audit: 'every-turn' })])).toHaveLength(count);
});
