/**
 * Batches in order of arrival: the rows of a CSV file in file order, 32 per request, with a fixed number of requests in
 * flight. A program whose arguments are the CSV file, the guard's address and that number.
 */
import { csvRows } from './csv-rows.ts';
import { TextClient } from './text-client.ts';

const ROWS = 32;

const [path, address, inFlight] = process.argv.slice(2) as [string, string, string];
const texts: string[] = [];
for await (const rows of csvRows(path)) for (const row of rows) texts.push(row[1]!);

const client = new TextClient(address);
let next = 0;
await Promise.all(
  Array.from({ length: Number(inFlight) }, async () => {
    while (next < texts.length) {
      const from = next;
      next += ROWS;
      await client.judge(texts.slice(from, from + ROWS));
    }
  }),
);
client.close();
