import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import type { RunConfig, RunRecord } from '../config/run-config.ts';
import { Failure } from '../domain/failure.ts';
import type { FrozenSource } from '../ingest/plan-line.ts';
import { readSources } from '../ingest/sources-file.ts';
import { RUN_FILES } from '../sink/run-files.ts';
import type { Run } from './create-run.ts';
import { finishedSummary } from './run-state.ts';

/** Enough to know that the file is ours; what the configuration holds was validated when it was frozen. */
const Record = z.looseObject({
  schema: z.literal(1),
  run: z.string().min(1),
  tool: z.looseObject({ name: z.literal('guardsweep') }),
  created_at: z.string(),
  sources_sha256: z.string(),
  config: z.looseObject({ sources: z.array(z.looseObject({ path: z.string() })).min(1) }),
});

/** Opens a run directory. Failure `usage` when it is none, or its record cannot be read. */
export async function openRun(path: string, signal: AbortSignal): Promise<Run> {
  const dir = resolve(path);
  const record = await readRunRecord(dir);
  if (record === null)
    throw new Failure(
      'usage',
      `${path} is not a run directory: it has no valid ${RUN_FILES.run}; type the path that enqueue printed`,
    );
  await checkSources(join(dir, RUN_FILES.sources), record.sources_sha256, path);
  const sources: FrozenSource[] = [];
  for await (const batch of readSources(join(dir, RUN_FILES.sources), { signal })) sources.push(...batch);
  return { dir, record, sources };
}

/** Files that were taken from the list would end the run as if they had never been in it. */
async function checkSources(path: string, sha256: string, shown: string): Promise<void> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  } catch (error) {
    throw new Failure('internal', `${shown}: ${RUN_FILES.sources} cannot be read`, { cause: error });
  }
  if (hash.digest('hex') !== sha256) {
    throw new Failure('internal', `${shown}: ${RUN_FILES.sources} is not as it was when the run was created`);
  }
}

/** What run.json of a directory says; null when it is no run directory. */
export async function readRunRecord(dir: string): Promise<RunRecord | null> {
  try {
    const parsed: unknown = JSON.parse(await readFile(join(dir, RUN_FILES.run), 'utf8'));
    return Record.safeParse(parsed).success ? (parsed as RunRecord) : null;
  } catch {
    return null;
  }
}

/** How many run directories of the output folder are looked at, newest first. */
const LOOK_AT = 200;

/** The newest run of the same sources that is not finished; null when there is none. */
export async function findUnfinished(config: RunConfig): Promise<string | null> {
  const wanted = JSON.stringify(config.sources.map((source) => source.path));
  let names: string[];
  try {
    names = await readdir(config.output.dir);
  } catch {
    return null;
  }
  const runs = names.filter((name) => /^\d{8}T\d{6}Z-/.test(name)).sort();
  for (const name of runs.slice(-LOOK_AT).reverse()) {
    const dir = join(config.output.dir, name);
    const record = await readRunRecord(dir);
    if (record === null) continue;
    if (JSON.stringify(record.config.sources.map((source) => source.path)) !== wanted) continue;
    if ((await finishedSummary(dir)) === null) return dir;
  }
  return null;
}
