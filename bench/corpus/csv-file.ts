import { open } from 'node:fs/promises';
import type { Rows } from './rows.ts';

const CHUNK_CHARS = 1 << 20;

/** Writes a CSV file of `count` rows with the columns id and text. Rejects with the signal's reason when aborted. */
export async function writeCsv(path: string, count: number, rows: Rows, signal: AbortSignal): Promise<void> {
  const file = await open(path, 'w');
  try {
    let chunk = 'id,text\n';
    for (let row = 1; row <= count; row++) {
      chunk += `r-${row},"${rows().replaceAll('"', '""')}"\n`;
      if (chunk.length < CHUNK_CHARS && row < count) continue;
      signal.throwIfAborted();
      await file.appendFile(chunk);
      chunk = '';
    }
  } finally {
    await file.close();
  }
}
