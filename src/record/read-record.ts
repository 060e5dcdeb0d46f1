import { join } from 'node:path';
import { z } from 'zod';
import { OUTPUT_FORMATS, type RunRecord } from '../config/run-config.ts';
import { Failure } from '../domain/failure.ts';
import { pathExists } from '../files/folders.ts';
import { RUN_FILES } from '../files/run-files.ts';
import { assertNotPurged } from './purged.ts';
import { readRunFile } from './read-run-file.ts';

const RECORD = z.looseObject({
  schema: z.literal(1),
  run: z.string(),
  created_at: z.string(),
  skipped: z.record(z.string(), z.number()),
  fitted_headers: z.array(z.string()),
  config: z.looseObject({
    sources: z.array(z.unknown()).min(1),
    policy: z.looseObject({}),
    output: z.looseObject({ formats: z.array(z.enum(OUTPUT_FORMATS)) }),
  }),
});

/**
 * Reads run.json: the frozen configuration of a run. Its values were validated when it was written, and its hash is the
 * start of the chain, so only its structure is checked here. Failure('internal') when it is malformed,
 * Failure('purged') for a run that was purged.
 */
export async function readRecord(runDir: string): Promise<RunRecord> {
  await assertNotPurged(runDir);
  try {
    const value: unknown = JSON.parse((await readRunFile(runDir, RUN_FILES.run)).toString());
    RECORD.parse(value);
    return value as RunRecord;
  } catch (cause) {
    throw new Failure('internal', `${RUN_FILES.run} is damaged`, { cause });
  }
}

/** Like `assertRunFolder`, and Failure('purged') for a run that was purged. */
export async function assertRunDirectory(dir: string): Promise<void> {
  await assertRunFolder(dir);
  await assertNotPurged(dir);
}

/**
 * Failure('usage') if there is no run at the path, finished or not. A run that lost one of its files counts as damaged.
 */
export async function assertRunFolder(dir: string): Promise<void> {
  if ((await pathExists(join(dir, RUN_FILES.run))) || (await pathExists(join(dir, RUN_FILES.manifest))))
    return;
  throw new Failure(
    'usage',
    `${dir} is not a run directory: it has neither ${RUN_FILES.run} nor ${RUN_FILES.manifest}; type the path that enqueue printed`,
  );
}
