/**
 * The first half of the obvious script: a job for every row of a CSV file. The file, the Redis socket and the queue's
 * name are its arguments.
 */
import { createReadStream } from 'node:fs';
import { Queue } from 'bullmq';
import { parse } from 'csv-parse';
import { Redis } from 'ioredis';

const [path, socket, name] = process.argv.slice(2) as [string, string, string];
const connection = new Redis({ path: socket, maxRetriesPerRequest: null });
const queue = new Queue(name, { connection });

for await (const row of createReadStream(path).pipe(parse({ columns: true }))) {
  await queue.add('moderate', row, { removeOnComplete: true });
}
await queue.close();
connection.disconnect();
