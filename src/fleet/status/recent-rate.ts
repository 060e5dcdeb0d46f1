import { join } from 'node:path';
import { openFile } from '../../files/open-file.ts';
import { readFully } from '../../files/read-fully.ts';
import { RUN_FILES, commitsName } from '../../files/run-files.ts';
import { parseChainLine } from '../../record/log/chain-line.ts';
import { listEpochs } from '../../record/log/epochs.ts';

/** Bytes read from the end of the commits file. */
const LAST_BYTES = 64 * 1024;
const WINDOW_MS = 60_000;

/** Items committed per second over the last minute; null when there were none. */
export async function recentRate(runDir: string, now: Date): Promise<number | null> {
  const epoch = (await listEpochs(runDir)).at(-1);
  if (epoch === undefined) return null;
  let items = 0;
  let from = now.getTime();
  for (const line of await lastLines(join(runDir, RUN_FILES.log, commitsName(epoch)))) {
    const commit = parseChainLine(line);
    if (commit === null || !('shard' in commit)) continue;
    const at = Date.parse(commit.at);
    if (now.getTime() - at > WINDOW_MS) continue;
    items += commit.items;
    from = Math.min(from, at);
  }
  const seconds = (now.getTime() - from) / 1000;
  return items === 0 || seconds <= 0 ? null : items / seconds;
}

async function lastLines(path: string): Promise<Buffer[]> {
  const file = await openFile(path, 'refuse');
  try {
    const { size } = await file.stat();
    const length = Math.min(LAST_BYTES, size);
    const bytes = await readFully(file, Buffer.alloc(length), size - length);
    return bytes
      .toString('latin1')
      .split('\n')
      .map((line) => Buffer.from(line, 'latin1'));
  } finally {
    await file.close();
  }
}
