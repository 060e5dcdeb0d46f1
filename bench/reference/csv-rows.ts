import { createReadStream } from 'node:fs';
import { Parser } from 'csv-parse';

const CHUNK_BYTES = 1 << 18;

/** csv-parse with rows taken from `push`, which saves stream events per row. */
class Rows extends Parser {
  #rows: string[][] = [];

  takeRows(): string[][] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  override push(row: string[] | null): boolean {
    if (row !== null) this.#rows.push(row);
    return true;
  }
}

/** The rows of a CSV file without its header, one array per chunk of the file. */
export async function* csvRows(path: string): AsyncGenerator<readonly string[][]> {
  const parser = new Rows({ from_line: 2 });
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES })) {
    parser.write(chunk);
    yield parser.takeRows();
  }
  parser.end();
  yield parser.takeRows();
}
