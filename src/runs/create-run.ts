import { createHash, randomBytes } from 'node:crypto';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { RunConfig, RunRecord } from '../config/run-config.ts';
import { Failure } from '../domain/failure.ts';
import { decodePath, encodePath } from '../domain/file-path.ts';
import { isDiskFull } from '../files/disk-full.ts';
import { encodeLine } from '../files/checked-line.ts';
import { createFile, DIRECTORY_MODE } from '../files/create-file.ts';
import { makeFolders } from '../files/durable-write.ts';
import type { SourceSnapshot } from '../ingest/sources/sources-file.ts';
import type { SkippedFile } from '../ingest/discover/walk/skipped-files.ts';
import { RUN_FILES } from '../files/run-files.ts';
import { isNewStdinPath } from '../files/stdin-file.ts';
import { removeAbandoned } from './retention/remove-abandoned.ts';
import { sealRun } from './trust/run-seal.ts';

/** A run that was created or opened: its directory, and what is frozen in it. */
export interface Run {
  /** Absolute. */
  readonly dir: string;
  readonly record: RunRecord;
  readonly sources: readonly SourceSnapshot[];
}

/**
 * Creates the directory of a new run, with its configuration and its sources frozen. It gets its final name only when
 * everything is on disk, so that every directory with such a name can be resumed.
 */
export async function createRun(
  given: RunConfig,
  found: readonly SourceSnapshot[],
  options: {
    readonly now: Date;
    readonly toolVersion: string;
    /** Number of skipped files, by reason. */
    readonly skipped: Readonly<Record<string, number>>;
    /** Paths of tables whose header has another number of cells than their rows. */
    readonly fittedHeaders: readonly string[];
    readonly tables?: RunRecord['tables'];
    readonly withoutHeader?: readonly string[];
    readonly otherEncodings?: RunRecord['other_encodings'];
    /** The skipped files that are not among the sources. */
    readonly skippedFiles: Iterable<SkippedFile>;
    /** Name of the run directory; default: a new one. Failure('superseded') when a run of that name exists. */
    readonly runId?: string | undefined;
    /** The user's key, which marks the run as trusted; null: the user must trust it explicitly later. */
    readonly key: Buffer | null;
  },
): Promise<Run> {
  const name =
    options.runId ?? `${compactStamp(options.now)}-${given.name}-${randomBytes(2).toString('hex')}`;
  const dir = join(given.output.dir, name);
  const stdin = given.sources.find(({ path }) => isNewStdinPath(path, given.output.dir))?.path ?? null;
  // Several processes may make a run of the same name; one of them gets to rename it.
  const making =
    stdin === null ? join(given.output.dir, `.${name}-${randomBytes(4).toString('hex')}`) : dirname(stdin);
  const final = (path: string): string => (path === stdin ? join(dir, RUN_FILES.stdin) : path);
  const config = { ...given, sources: given.sources.map((each) => ({ ...each, path: final(each.path) })) };
  const sources = found.map((each) =>
    decodePath(each.absolute) === stdin ? { ...each, absolute: encodePath(final(stdin)) } : each,
  );
  try {
    await makeFolders(config.output.dir);
    await removeAbandoned(config.output.dir);
    if (stdin === null) await mkdir(making, DIRECTORY_MODE);
    await mkdir(join(making, RUN_FILES.log), DIRECTORY_MODE);
    const record: RunRecord = {
      schema: 1,
      run: name,
      tool: { name: 'guardsweep', version: options.toolVersion },
      created_at: options.now.toISOString(),
      skipped: options.skipped,
      fitted_headers: options.fittedHeaders,
      ...(options.tables && options.tables.length > 0 && { tables: options.tables }),
      ...(options.withoutHeader?.length && { without_header: options.withoutHeader }),
      ...(options.otherEncodings?.length && { other_encodings: options.otherEncodings }),
      sources_sha256: await writeDurably(join(making, RUN_FILES.sources), lines(sources)),
      skipped_sha256: await writeDurably(join(making, RUN_FILES.skipped), lines(options.skippedFiles)),
      config,
    };
    const runJson = `${JSON.stringify(record, null, 2)}\n`;
    await writeDurably(join(making, RUN_FILES.run), [runJson]);
    if (options.key !== null) await sealRun(making, runJson, options.key);
    await rename(making, dir);
    return { dir, record, sources };
  } catch (error) {
    await rm(making, { recursive: true, force: true }).catch(() => undefined);
    if (isDiskFull(error)) {
      throw new Failure(
        'service',
        `the disk is full: no run directory can be created in ${config.output.dir}`,
        {
          cause: error,
        },
      );
    }
    if (options.runId !== undefined && TAKEN.has(codeOf(error))) {
      throw new Failure('superseded', `the run ${name} exists: another process has created it`);
    }
    throw new Failure('usage', `cannot write a run directory in ${config.output.dir} (${codeOf(error)})`, {
      cause: error,
    });
  }
}

/** How a system reports that a directory cannot be renamed because the name is taken. */
const TAKEN: ReadonlySet<string> = new Set(['ENOTEMPTY', 'EEXIST']);

/** The time in the name of a run directory: `20261121T020000Z`. */
export function compactStamp(time: Date): string {
  return time.toISOString().replace(/[-:]|\.\d+/g, '');
}

/** One a line, many lines at once. */
function* lines(values: Iterable<SourceSnapshot | SkippedFile>): Generator<string> {
  const BATCH_LENGTH = 256 * 1024;
  let batch = '';
  for (const value of values) {
    batch += `${encodeLine(value)}\n`;
    if (batch.length < BATCH_LENGTH) continue;
    yield batch;
    batch = '';
  }
  yield batch;
}

/** Returns the SHA-256 of what was written. */
async function writeDurably(path: string, parts: Iterable<string>): Promise<string> {
  const hash = createHash('sha256');
  const file = await createFile(path);
  try {
    for (const part of parts) {
      hash.update(part);
      await file.appendFile(part);
    }
    await file.datasync();
  } finally {
    await file.close();
  }
  return hash.digest('hex');
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}
