import { join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../domain/failure.ts';
import { readRecordLines } from '../../files/record-lines.ts';
import { RUN_FILES } from '../../files/run-files.ts';

/** One line of source-hashes.jsonl. The file has a line for each line of sources.jsonl, in the same order. */
const SOURCE_HASH = z.strictObject({
  /** 0-based, as in sources.jsonl. */
  source: z.int().min(0),
  /** SHA-256 as judged; null if the file is gone, unreadable, changed, or only partly read in a trial. */
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .nullable(),
});

export type SourceHash = Readonly<z.infer<typeof SOURCE_HASH>>;

/** Encodes the line of a source, with its newline. */
export function sourceHashLine({ source, sha256 }: SourceHash): string {
  return `${JSON.stringify({ source, sha256 })}\n`;
}

/**
 * Reads the hashes of a finished run's sources, in order. Streams the file: a run may have millions of sources.
 * Failure('internal') names a line that is not the next source.
 */
export async function* readSourceHashes(
  runDir: string,
  signal: AbortSignal,
): AsyncGenerator<SourceHash, void> {
  let expected = 0;
  for await (const batch of readRecordLines(join(runDir, RUN_FILES.sourceHashes), { signal })) {
    for (const bytes of batch) {
      const line = parseLine(bytes);
      if (line?.source !== expected) {
        throw new Failure(
          'internal',
          `${RUN_FILES.sourceHashes} line ${expected + 1} is not that of the source`,
        );
      }
      expected++;
      yield line;
    }
  }
}

function parseLine(bytes: Buffer): SourceHash | null {
  try {
    return SOURCE_HASH.parse(JSON.parse(bytes.toString()));
  } catch {
    return null;
  }
}
