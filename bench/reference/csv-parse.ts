/** Parses the CSV file in its argument with csv-parse only, and prints the number of rows. */
import { standardOutput } from '../../src/terminal/standard-streams.ts';
import { csvRows } from './csv-rows.ts';

let count = 0;
for await (const rows of csvRows(process.argv[2]!)) count += rows.length;
standardOutput().line(String(count));
