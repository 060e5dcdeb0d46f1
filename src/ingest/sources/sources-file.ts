import { z } from 'zod';
import { Failure } from '../../domain/failure.ts';
import { decodeLine } from '../../files/checked-line.ts';
import { readRecordLines } from '../../files/record-lines.ts';
import type { FrozenSource } from '../plan/plan-line.ts';

const count = z.int().min(0);

const FILE_STATE = { bytes: count, mtime_ms: z.number(), ctime_ms: z.number(), inode: z.number() };

const SIDECAR = z.strictObject({ path: z.string(), absolute: z.string(), ...FILE_STATE });

const SOURCE_LINE = z.strictObject({
  source: count,
  corpus: count,
  path: z.string(),
  absolute: z.string(),
  ...FILE_STATE,
  sidecar: SIDECAR.nullable(),
  manifest: z.union([count, SIDECAR]).nullable(),
});

/**
 * The lines of sources.jsonl in order, in batches. Failure('internal') names an invalid line; a missing file rejects
 * with the system's ENOENT.
 */
export async function* readSources(
  path: string,
  options: { readonly signal: AbortSignal },
): AsyncGenerator<FrozenSource[], void> {
  let expected = 0;
  for await (const batch of readRecordLines(path, options)) {
    yield batch.map((bytes) => {
      const source = decodeLine(SOURCE_LINE, bytes);
      if (typeof source === 'string') {
        throw new Failure('internal', `sources.jsonl line ${expected + 1} is damaged`);
      }
      if (source.source !== expected) {
        throw new Failure('internal', `sources.jsonl line ${expected + 1} is out of order`);
      }
      expected++;
      return source;
    });
  }
}
