import { openForAppending } from '../files/create-file.ts';
import { readNotedHeads, type NotedHead } from '../record/head-file.ts';

/**
 * Appends a head to a head file (one JSON object per line) in a single write and syncs it; does nothing when it is
 * already the run's newest head there. The file is created with mode 0600. Rejects with NotRegularFileError, or the
 * system's error.
 */
export async function noteHead(path: string, noted: NotedHead, signal: AbortSignal): Promise<void> {
  const handle = await openForAppending(path);
  try {
    const earlier = await readNotedHeads(path, noted.run, signal);
    if (earlier.at(-1)?.head === noted.head) return;
    const { size } = await handle.stat();
    // A torn last line is kept; this one must not continue it.
    const last = size === 0 ? null : (await handle.read(Buffer.alloc(1), 0, 1, size - 1)).buffer.toString();
    const { at, run, pass, head, manifest } = noted;
    const line = `${JSON.stringify({ at, run, pass, head, manifest })}\n`;
    const bytes = Buffer.from(last === null || last === '\n' ? line : `\n${line}`);
    const { bytesWritten } = await handle.write(bytes);
    if (bytesWritten < bytes.length) throw Object.assign(new Error('short write'), { code: 'ENOSPC' });
    await handle.datasync();
  } finally {
    await handle.close();
  }
}
