import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { random, sentence, writeComments } from '../../helpers/corpus.ts';
import { zipOf } from '../../helpers/documents.ts';
import { drawn } from '../../helpers/pictures.ts';

/** Beyond the context of the embedded guard, some by far: they are judged in windows. */
const LONG_TEXT_BYTES = [40_000, 150_000, 70_000, 300_000];

/** A folder of a little of everything: tables, chats, long texts, pictures, mails, an archive in an archive, and errors. */
export async function writeCorpus(path: string, seed: number): Promise<void> {
  const next = random(seed);
  const prose = (bytes: number): string => {
    const sentences: string[] = [];
    for (let length = 0; length < bytes; length += sentences.at(-1)!.length + 2)
      sentences.push(sentence(next, 20));
    return sentences.join('. ');
  };
  await mkdir(path);
  await writeFile(join(path, 'a-header.csv'), 'comment_id,body\n');
  await writeComments(path, 'b.csv', 3000);
  const turn = (index: number, words: number): object => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: sentence(next, words),
  });
  const chats = Array.from({ length: 60 }, (_, index) => ({
    messages: Array.from({ length: 3 + (index % 9) * 2 }, (_, at) => turn(at, index % 20 === 7 ? 2000 : 12)),
  }));
  await writeFile(join(path, 'c.jsonl'), chats.map((chat) => JSON.stringify(chat)).join('\n'));
  for (const [index, bytes] of LONG_TEXT_BYTES.entries()) {
    await writeFile(join(path, `d-${index}.txt`), prose(bytes));
  }
  for (let index = 0; index < 8; index++) {
    const format = index % 2 === 0 ? 'png' : 'jpeg';
    await drawn(30 + index, 40)
      .toFormat(format)
      .toFile(join(path, `e-${index}.${format}`));
  }
  await writeFile(join(path, 'f-broken.png'), Buffer.from('\x89PNG\r\n\x1a\nnothing more', 'latin1'));
  await writeComments(path, 'g.csv', 1500, 10_000);
  await writeFile(join(path, 'h.csv'), 'id,text\n1,one\n2,two,three\n3,"four\n');
  const mails = Array.from({ length: 1000 }, (_, at) => `Subject: ${at}\n\n${sentence(next)}\n\n`);
  await writeFile(
    join(path, 'i.mbox'),
    mails.map((mail) => `From bo Mon May  4 09:00:00 2026\n${mail}`).join(''),
  );
  const table = await readFile(join(path, 'g.csv'));
  await writeFile(join(path, 'j.zip'), zipOf({ 'inner.zip': zipOf({ 'table.csv': table }) }));
}
