import { z } from 'zod';
import { readRecordLines } from '../files/record-lines.ts';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const NOTED = z.looseObject({
  at: z.iso.datetime(),
  run: z.string(),
  pass: z.int().min(1),
  head: sha256,
  manifest: sha256,
});

/** One line of a head file: the chain head of a finished pass. */
export interface NotedHead {
  /** When it was noted. ISO 8601, UTC. */
  readonly at: string;
  readonly run: string;
  readonly pass: number;
  readonly head: string;
  /** SHA-256 of manifest.json. */
  readonly manifest: string;
}

/**
 * Reads the heads of one run in a head file, oldest first; malformed lines are skipped. Rejects as `readRecordLines`
 * does.
 */
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
