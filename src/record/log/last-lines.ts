import { join } from 'node:path';
import { openFile } from '../../files/open-file.ts';
import { readFully } from '../../files/read-fully.ts';
import { commitsName, RUN_FILES } from '../../files/run-files.ts';

/** Bytes read from the end of a commits file. */
const LAST_BYTES = 64 * 1024;

/** Reads the complete lines among the last 64 KiB of an epoch's commits file; the start of the first may be missing. */
export async function lastLines(runDir: string, epoch: number): Promise<Buffer[]> {
  const file = await openFile(join(runDir, RUN_FILES.log, commitsName(epoch)), 'refuse');
  try {
    const { size } = await file.stat();
    const length = Math.min(LAST_BYTES, size);
    const bytes = await readFully(file, Buffer.alloc(length), size - length);
    const lines = bytes.toString('latin1').split('\n').slice(0, -1);
    return lines.map((line) => Buffer.from(line, 'latin1'));
  } finally {
    await file.close();
  }
}
