import type { RunConfig } from '../config/run-config.ts';
import { toolVersion } from '../config/tool-version.ts';
import { expandSources, unusedGlobNotice } from '../ingest/discover/expand.ts';
import { inspectSources } from '../ingest/recognise/inspect.ts';
import { createRun, type Run } from './create-run.ts';
import { findUnfinished, openRun } from './open-run.ts';
import type { Report } from './run-events.ts';
import { admitRun } from './trust/admit-run.ts';
import { runKey } from './trust/run-key.ts';

/** Preparation to start or resume a run, in one process or on a fleet. */
export interface RunOptions {
  /** Path of the user's key file, see runKeyFile. */
  readonly keyFile: string | null;
  /** Aborted first: nothing new is begun, what is in flight is finished. */
  readonly drain: AbortSignal;
  /** Aborted to give up what is in flight. */
  readonly stop: AbortSignal;
  readonly report: Report;
  /** Name of the directory of a new run; default: a new one. */
  readonly runId?: string | undefined;
}

export interface ResumeOptions {
  /** Judge again, in a new pass of a finished run, the items that ended in a retryable error. */
  readonly retry: boolean;
  /** Also work on a run that was not created by this user on this machine. */
  readonly trusted: boolean;
}

type PrepareOptions = Pick<RunOptions, 'keyFile' | 'drain' | 'report' | 'runId'>;

/**
 * Finds the sources of a new run. Returns a function that creates the run directory; before it is called, nothing is
 * written. Failure('usage') for a source that does not exist or that cannot be read as configured.
 */
export async function prepareRun(
  config: RunConfig,
  { keyFile, drain, report, runId }: PrepareOptions,
): Promise<() => Promise<Run>> {
  const { sources, skipped, skippedFiles, unusedGlobs } = await expandSources(config.sources, drain);
  const inspection = await inspectSources(sources, config.sources, config.limits.itemBytes, drain);
  for (const glob of unusedGlobs) report({ kind: 'notice', line: unusedGlobNotice(glob) });
  return async () => {
    const key = await runKey(keyFile);
    const options = {
      now: new Date(),
      toolVersion: toolVersion(),
      skipped,
      skippedFiles,
      ...inspection,
      runId,
      key,
    };
    const run = await createRun(config, sources, options);
    report({ kind: 'created', run });
    // Looked for when this run can be found: of two that are started together, one at least finds the other.
    const unfinished = await findUnfinished(run);
    if (unfinished !== null) report({ kind: 'unfinished', ...unfinished });
    return run;
  };
}

/** Opens a run directory to work on it. Failure('usage') when it is none, or is not trusted. */
export async function openTrustedRun(
  dir: string,
  { keyFile, trusted, drain, report }: PrepareOptions & Pick<ResumeOptions, 'trusted'>,
): Promise<Run> {
  const say = (line: string): void => report({ kind: 'notice', line });
  await admitRun(dir, { keyFile, trusted, work: 'judge', say, signal: drain });
  return openRun(dir, drain);
}
