import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { BatchResults, RunConfig } from '../../config/run-config.ts';
import { toolVersion } from '../../config/tool-version.ts';
import { Failure } from '../../domain/failure.ts';
import { quoteName } from '../../domain/text/escape-text.ts';
import { createFile, DIRECTORY_MODE } from '../../files/create-file.ts';
import { findEnclosingRunDirectory } from '../../files/folders.ts';
import { hashFile } from '../../files/hash-file.ts';
import { NotRegularFileError, readWholeFile } from '../../files/open-file.ts';
import { BATCH_FILES } from '../../guard/openai/batch/request-files.ts';
import { RequestFiles, type RequestFile } from '../../guard/openai/batch/request-files.ts';

const MAX_DESCRIPTION_BYTES = 16 * 1024 * 1024;

/** Enough to know that the file is ours; what the configuration holds was validated when it was written. */
const DESCRIPTION = z.looseObject({
  schema: z.literal(1),
  tool: z.looseObject({ name: z.literal('guardsweep') }),
  config: z.looseObject({
    sources: z.array(z.looseObject({ path: z.string() })),
    guards: z.array(z.string()),
  }),
});

/**
 * Makes a new folder of request files. `write` adds the requests of a run; then the folder is completed with what is needed
 * to take their results into that run. When `write` fails, the folder is removed. Failure('usage') when it cannot be made.
 */
export async function writeBatchFolder(
  folder: string,
  config: RunConfig,
  write: (files: RequestFiles) => Promise<void>,
): Promise<readonly RequestFile[]> {
  // Its files would be found by the next run of the same sources, or would be in a record.
  if ((await findEnclosingRunDirectory(join(folder, BATCH_FILES.batch))) !== null)
    throw new Failure(
      'usage',
      `--requests: ${quoteName(folder)} is in a run directory; choose a place outside`,
    );
  try {
    await mkdir(folder, DIRECTORY_MODE);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
    const why = code === 'EEXIST' ? 'exists already, and is not changed' : `cannot be made (${code})`;
    throw new Failure('usage', `--requests: ${quoteName(folder)} ${why}`, { cause });
  }
  const requests = new RequestFiles(folder);
  try {
    await write(requests);
    const files = await requests.finish(BATCH_FILES.keys);
    const tool = { name: 'guardsweep', version: toolVersion() };
    const description = { schema: 1, tool, created_at: new Date().toISOString(), files, config };
    const file = await createFile(join(folder, BATCH_FILES.batch));
    try {
      await file.writeFile(`${JSON.stringify(description, null, 2)}\n`);
    } finally {
      await file.close();
    }
    return files;
  } catch (error) {
    await requests.close();
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** The run that a folder of request files is of. Failure('usage') when it is no such folder. */
export async function readBatchFolder(folder: string): Promise<RunConfig> {
  const path = join(folder, BATCH_FILES.batch);
  try {
    const bytes = await readWholeFile(path, { maxBytes: MAX_DESCRIPTION_BYTES, links: 'refuse' });
    const json = JSON.parse(bytes.toString('utf8')) as { readonly config: RunConfig };
    if (DESCRIPTION.safeParse(json).success) return json.config;
  } catch {
    // It is none of ours.
  }
  throw new Failure('usage', `${quoteName(folder)} is not a folder that batch export completed`);
}

/** The result files of a batch as they are now. Failure('usage') for one that cannot be read. */
export async function namedResults(
  folder: string,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<BatchResults> {
  const files: { path: string; sha256: string }[] = [];
  for (const path of new Set(paths)) {
    try {
      files.push({ path, sha256: (await hashFile(path, { signal })).sha256 });
    } catch (cause) {
      signal.throwIfAborted();
      const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
      const why = cause instanceof NotRegularFileError ? 'is no file' : `cannot be read (${code})`;
      throw new Failure('usage', `${quoteName(path)} ${why}`, { cause });
    }
  }
  return { folder, files };
}
