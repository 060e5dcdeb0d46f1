/**
 * The second half of the obvious script: a worker that sends one row per request, 50 concurrently, and appends each
 * verdict to a file. Ends after as many verdicts as rows. Its arguments are the Redis socket, the name of the queue,
 * the guard's address, the file and the number of rows.
 */
import { appendFile } from 'node:fs/promises';
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { CATEGORY_KEYS } from '../../src/domain/taxonomy.ts';
import { TextClient } from './text-client.ts';

const CONCURRENCY = 50;

const [socket, name, address, path, rows] = process.argv.slice(2) as [string, string, string, string, string];
const client = new TextClient(address);
const connection = new Redis({ path: socket, maxRetriesPerRequest: null });
let judged = 0;

const worker = new Worker<{ id: string; text: string }>(
  name,
  async ({ data }) => {
    const [answer] = await client.judge([data.text]);
    const { score, flagged, categoryScores, categoryFlags } = answer!;
    const verdict = {
      id: data.id,
      score,
      flagged,
      scores: Object.fromEntries(CATEGORY_KEYS.map((key, index) => [key, categoryScores[index]])),
      flags: CATEGORY_KEYS.filter((_, index) => categoryFlags[index]!),
      moderated_at: new Date().toISOString(),
    };
    await appendFile(path, `${JSON.stringify(verdict)}\n`);
    judged++;
  },
  { connection, concurrency: CONCURRENCY },
);

await new Promise<void>((resolve) => {
  worker.on('completed', () => {
    if (judged >= Number(rows)) resolve();
  });
});
await worker.close();
connection.disconnect();
client.close();
