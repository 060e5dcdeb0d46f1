/** Parses the CSV file that is its argument, with csv-parse alone, and prints how many rows it has. */
import { standardOutput } from '../../src/terminal/standard-streams.ts';
import { csvRows } from './csv-rows.ts';

let count = 0;
for await (const rows of csvRows(process.argv[2]!)) count += rows.length;
standardOutput().line(String(count));
