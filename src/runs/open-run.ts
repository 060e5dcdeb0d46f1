import { readdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import type { RunRecord } from '../config/run-config.ts';
import { Failure } from '../domain/failure.ts';
import { escapeText } from '../domain/text/escape-text.ts';
import { pathExists } from '../files/folders.ts';
import { hashFile } from '../files/hash-file.ts';
import type { SourceSnapshot } from '../ingest/sources/sources-file.ts';
import { readSources } from '../ingest/sources/sources-file.ts';
import { CorpusBounds } from '../ingest/discover/within-corpora.ts';
import { isRunFileChanged } from '../record/log/claim-path.ts';
import { assertNotPurged } from '../record/purged.ts';
import { readRunFile } from '../record/read-run-file.ts';
import { RUN_FILES } from '../files/run-files.ts';
import { type Feeder, readFeeder } from './control/feed-claim.ts';
import type { Run } from './create-run.ts';
import { finishedSummary } from '../record/summary/finished-summary.ts';

/** Just enough to recognise our file; the configuration was validated when it was frozen. */
const Record = z.looseObject({
  schema: z.literal(1),
  run: z.string().min(1),
  tool: z.looseObject({ name: z.literal('guardsweep') }),
  created_at: z.string(),
  sources_sha256: z.string(),
  config: z.looseObject({
    sources: z.array(z.looseObject({ path: z.string() })).min(1),
    guards: z.array(z.string()),
  }),
});

/**
 * Opens a run directory. Failure `usage` when it is not one, `purged` when it was purged, `internal` when its list of
 * sources cannot be read, has changed, or leads out of the corpora.
 */
export async function openRun(path: string, signal: AbortSignal): Promise<Run> {
  const dir = resolve(path);
  const record = await readRunRecord(dir);
  if (record === null) throw await notARun(path, signal);
  await assertNotPurged(dir);
  const list = join(dir, RUN_FILES.sources);
  const sources: SourceSnapshot[] = [];
  const bounds = new CorpusBounds(record.config.sources);
  try {
    // Read before it is hashed: a file that is not a source list fails on its first line.
    for await (const batch of readSources(list, { signal })) {
      for (const source of batch) {
        const outside = bounds.pathOutside(source);
        if (outside !== null) {
          const what = `${RUN_FILES.sources} names ${escapeText(outside)}, which is in none of the corpora that ${RUN_FILES.run} names`;
          throw new Failure('internal', `${path}: ${what}`);
        }
        sources.push(source);
      }
    }
    // If files were removed from the list, the run would end as if they had never been in it.
    const { sha256 } = await hashFile(list, { signal });
    if (sha256 === record.sources_sha256) return { dir, record, sources };
  } catch (error) {
    if (error instanceof Failure || signal.aborted) throw error;
    throw new Failure('internal', `${path}: ${RUN_FILES.sources} cannot be read`, { cause: error });
  }
  throw new Failure('internal', `${path}: ${RUN_FILES.sources} is not as it was when the run was created`);
}

/** The failure for a directory without a valid run.json: it never was a run directory, or the file was damaged. */
export async function notARun(path: string, signal: AbortSignal): Promise<Failure> {
  const dir = resolve(path);
  if (await isRunFileChanged(dir, signal)) return runFileChanged(path);
  const why = `it has no valid ${RUN_FILES.run}; type the path that enqueue printed`;
  return new Failure('usage', `${path} is not a run directory: ${why}`);
}

/** The failure for a run whose run.json is not the file that its log began with. */
export function runFileChanged(path: string): Failure {
  return new Failure(
    'internal',
    `${path}: ${RUN_FILES.run} was damaged or changed after the run was created; put back a copy of it, or start a new run`,
  );
}

/** Reads run.json in a directory; null when it is not a run directory. */
export async function readRunRecord(dir: string): Promise<RunRecord | null> {
  try {
    const parsed: unknown = JSON.parse((await readRunFile(dir, RUN_FILES.run)).toString());
    return Record.safeParse(parsed).success ? (parsed as RunRecord) : null;
  } catch {
    return null;
  }
}

/** Human-readable reason why a run directory cannot be read. */
export function problemOf(error: unknown): string {
  if (error instanceof Failure) return error.message;
  const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
  return `its files cannot be read${code}`;
}

/** Maximum run directories of the output folder to examine, newest first. */
const LOOK_AT = 200;

/** After this many milliseconds, a run that has not begun never will. */
const BEGINS_WITHIN_MS = 60_000;

/** A run that is not finished. */
interface UnfinishedRun {
  readonly dir: string;
  /** Whether a process works on it now, or is about to. */
  readonly isRunning: boolean;
}

/**
 * Whether the process of a feeder exists or is on another machine. A killed feeder's heartbeat stays recent for some
 * seconds.
 */
function mayBeThere({ host, pid }: Feeder): boolean {
  if (host !== hostname()) return true;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Finds the newest other unfinished run of the same sources; null when there is none. */
export async function findUnfinished({ dir: own, record: { config } }: Run): Promise<UnfinishedRun | null> {
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
    if (record === null || resolve(dir) === resolve(own)) continue;
    if (JSON.stringify(record.config.sources.map((source) => source.path)) !== wanted) continue;
    if ((await finishedSummary(dir)) !== null || (await pathExists(join(dir, RUN_FILES.purged)))) continue;
    const feeder = await readFeeder(dir);
    const begins = feeder === null && Date.now() - Date.parse(record.created_at) < BEGINS_WITHIN_MS;
    return { dir, isRunning: begins || (feeder?.alive === true && mayBeThere(feeder)) };
  }
  return null;
}
