import { readFile, rename } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { expect, it, onTestFinished } from 'vitest';
import { folderWith, guardsweep } from '../helpers/cli.ts';
import { jsonl } from '../helpers/documents.ts';
import { onlyRun, outcomes } from '../helpers/run-directory.ts';

const DOCUMENT = resolve(import.meta.dirname, '../../docs/reading-runs.md');

const ROWS = ['a lovely day', 'I will kill you all with a bomb', 'thanks for the help'];

async function rowsOf(connection: DuckDBConnection, sql: string): Promise<unknown[][]> {
  return (await connection.runAndReadAll(sql)).getRowsJson();
}

it('the queries for DuckDB join rows, pairs and conversations with their outcomes', async () => {
  const rows = ROWS.map((text, index) => `c${index},${text}\n`).join('');
  const talk = (id: string, ...texts: string[]) => ({
    id,
    messages: texts.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content })),
  });
  const talks = [talk('calm', 'hello', 'hi'), talk('c#1', 'hello', ROWS[1]!, 'please calm down', ' ')];
  const folder = await folderWith({
    'comments.csv': `id,text\n${rows}`,
    'pairs.jsonl': jsonl({ prompt: 'How are you?', chosen: 'a good answer', rejected: ROWS[1] }),
    'chats.jsonl': jsonl(...talks),
  });
  const args = 'comments.csv pairs.jsonl chats.jsonl --audit every-turn --guard embedded: --out runs';
  await guardsweep(['enqueue', ...args.split(' ')], { cwd: folder });
  const run = await onlyRun(join(folder, 'runs'));
  const lines = await outcomes(run);
  await rename(run, join(folder, 'run'));

  const page = await readFile(DOCUMENT, 'utf8');
  const blocks = [...page.matchAll(/```sql\n(.*?)```/gs)].map(([, sql]) => sql!);
  const [view, byId, byRow, sides, conversations] = blocks as [string, string, string, string, string];
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  onTestFinished(() => connection.closeSync());
  await connection.run(`SET TimeZone = 'UTC'; SET file_search_path = '${folder}'`);
  await connection.run(view);
  expect(await rowsOf(connection, byId)).toMatchObject([
    ['c0', ROWS[0], 'allow', lines[0]!.score, null, null],
    ['c1', ROWS[1], 'block', lines[1]!.score, lines[1]!.subcategory_scores!.hate, null],
    ['c2', ROWS[2], 'allow', lines[2]!.score, null, null],
  ]);
  expect(await rowsOf(connection, byRow)).toEqual(
    ROWS.map((text, index) => [text, lines[index]!.decision, lines[index]!.score]),
  );
  expect(await rowsOf(connection, sides)).toEqual([['pairs.jsonl', '1', 'allow', 'block']]);
  expect(await rowsOf(connection, conversations)).toEqual([
    ['chats.jsonl', '1', 'calm', '2', '2', 'allow', null],
    ['chats.jsonl', '2', 'c#1', '4', '3', 'block', '2'],
  ]);
});
