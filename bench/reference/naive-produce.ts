/**
 * The first half of the obvious script: adds a job per row of a CSV file. Its arguments are the file, the Redis socket
 * and the name of the queue.
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
