import { z } from 'zod';
import { openForAppending } from '../files/create-file.ts';
import { readRecordLines } from '../files/record-lines.ts';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const NOTED = z.looseObject({
  at: z.iso.datetime(),
  run: z.string(),
  pass: z.int().min(1),
  head: sha256,
  manifest: sha256,
});

/** One line of a head file: the chain head that a finished pass of a run had. */
export interface NotedHead {
  /** ISO 8601, UTC: when it was noted. */
  readonly at: string;
  readonly run: string;
  readonly pass: number;
  readonly head: string;
  /** SHA-256 of manifest.json. */
  readonly manifest: string;
}

/**
 * Appends a head to a file of one JSON object a line, in one write, and makes it durable; does nothing when the run has
 * that head there already. The file is created with mode 0600. Rejects with NotAnOrdinaryFile, or the system's error.
 */
export async function noteHead(path: string, noted: NotedHead, signal: AbortSignal): Promise<void> {
  const handle = await openForAppending(path);
  try {
    const earlier = await readNotedHeads(path, noted.run, signal);
    if (earlier.at(-1)?.head === noted.head) return;
    const { size } = await handle.stat();
    // A line that a crash tore off is left as it is, and not continued.
    const last = size === 0 ? null : (await handle.read(Buffer.alloc(1), 0, 1, size - 1)).buffer.toString();
    const { at, run, pass, head, manifest } = noted;
    const line = `${JSON.stringify({ at, run, pass, head, manifest })}\n`;
    const bytes = Buffer.from(last === null || last === '\n' ? line : `\n${line}`);
    const { bytesWritten } = await handle.write(bytes);
    if (bytesWritten < bytes.length)
      throw Object.assign(new Error('only a part was written'), { code: 'ENOSPC' });
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

/** The heads of one run in a head file, oldest first. Lines of another form are skipped. Rejects as `readRecordLines` does. */
export async function readNotedHeads(path: string, run: string, signal: AbortSignal): Promise<NotedHead[]> {
  const heads: NotedHead[] = [];
  for await (const batch of readRecordLines(path, { signal })) {
    for (const line of batch) {
      const noted = parse(line);
      if (noted?.run === run) heads.push(noted);
    }
  }
  return heads;
}

function parse(line: Buffer): NotedHead | null {
  try {
    const parsed = NOTED.safeParse(JSON.parse(line.toString()));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}
