import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunConfig, RunRecord } from '../config/run-config.ts';
import { Failure } from '../domain/failure.ts';
import { isDiskFull } from '../ingest/disk-full.ts';
import { makeFolders } from '../ingest/durable-write.ts';
import type { FrozenSource } from '../ingest/plan-line.ts';
import { RUN_FILES } from '../sink/run-files.ts';

/** A run that was created or opened: its directory and what is frozen in it. */
export interface Run {
  /** Absolute. */
  readonly dir: string;
  readonly record: RunRecord;
  readonly sources: readonly FrozenSource[];
}

/**
 * Makes the directory of a new run, with its configuration and its sources frozen. It appears under its final
 * name only when both are on disk, so that whatever bears that name can be resumed.
 */
export async function createRun(
  config: RunConfig,
  sources: readonly FrozenSource[],
  options: {
    readonly now: Date;
    readonly toolVersion: string;
    /** Files that were passed over, by reason. */
    readonly skipped: Readonly<Record<string, number>>;
  },
): Promise<Run> {
  const stamp = options.now.toISOString().replace(/[-:]|\.\d+/g, '');
  const name = `${stamp}-${config.name}-${randomBytes(2).toString('hex')}`;
  const dir = join(config.output.dir, name);
  const making = join(config.output.dir, `.${name}`);
  try {
    await makeFolders(config.output.dir);
    await mkdir(making, { mode: 0o700 });
    await mkdir(join(making, RUN_FILES.log), { mode: 0o700 });
    const record: RunRecord = {
      schema: 1,
      run: name,
      tool: { name: 'guardsweep', version: options.toolVersion },
      created_at: options.now.toISOString(),
      skipped: options.skipped,
      sources_sha256: await writeDurably(join(making, RUN_FILES.sources), lines(sources)),
      config,
    };
    await writeDurably(join(making, RUN_FILES.run), [`${JSON.stringify(record, null, 2)}\n`]);
    await rename(making, dir);
    return { dir, record, sources };
  } catch (error) {
    await rm(making, { recursive: true, force: true }).catch(() => undefined);
    if (isDiskFull(error)) {
      throw new Failure('service', `the disk is full: no run directory can be made in ${config.output.dir}`, {
        cause: error,
      });
    }
    throw new Failure('usage', `cannot write a run directory in ${config.output.dir} (${codeOf(error)})`, {
      cause: error,
    });
  }
}

function* lines(sources: readonly FrozenSource[]): Generator<string> {
  const BATCH = 1000;
  for (let at = 0; at < sources.length; at += BATCH) {
    yield sources
      .slice(at, at + BATCH)
      .map((source) => `${JSON.stringify(source)}\n`)
      .join('');
  }
}

/** Gives the SHA-256 of what was written. */
async function writeDurably(path: string, parts: Iterable<string>): Promise<string> {
  const hash = createHash('sha256');
  const file = await open(path, 'wx', 0o600);
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
