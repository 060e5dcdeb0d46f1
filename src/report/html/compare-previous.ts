import { lstat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { RunRecord } from '../../config/run-config.ts';
import { Failure } from '../../domain/failure.ts';
import { listFolder } from '../../files/folders.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { readRecord } from '../../record/read-record.ts';
import { finishedSummary } from '../../record/summary/finished-summary.ts';
import { diffRuns, type DiffResult } from '../../analysis/diff-runs.ts';
import { openFinishedVerdicts } from '../../analysis/finished-verdicts.ts';
import type { PreviousChanges, PreviousRun } from './report-data.ts';

/** Run directories to examine, newest first. */
const MAX_LOOKED_AT = 200;
/** Largest verdicts.jsonl of either run that is compared item by item: some 200,000 items. */
const MAX_COMPARED_BYTES = 200 * 1024 * 1024;

/** Names of run directories begin with their creation time. */
const RUN_NAME = /^\d{8}T\d{6}Z-/;

/**
 * The latest finished run before this one, in the same folder, that has the same name and the same sources. Item by item
 * it is compared only with a finished run, and only if both are small enough. Null when there is none. Skips runs that
 * cannot be read.
 */
export async function comparePrevious(
  runDir: string,
  record: RunRecord,
  signal: AbortSignal,
): Promise<PreviousRun | null> {
  const folder = dirname(runDir);
  const own = basename(runDir);
  const names = await listFolder(folder).catch(() => []);
  const earlier = names.filter((name) => RUN_NAME.test(name) && name < own).sort();
  for (const name of earlier.reverse().slice(0, MAX_LOOKED_AT)) {
    signal.throwIfAborted();
    const dir = join(folder, name);
    const before = await readRecord(dir).catch(() => null);
    if (before === null || !isSameJob(before, record)) continue;
    const summary = await finishedSummary(dir);
    if (summary === null) continue;
    const { items, verdicts, errors, flagged, by_decision, by_category, without_category, partial } = summary;
    const models = new Set(summary.guards.map(({ fingerprint }) => fingerprint));
    return {
      run: before.run,
      createdAt: before.created_at,
      counts: {
        ...{ items, verdicts, errors, flagged, by_decision, by_category, without_category, partial },
        fingerprints: [...models].filter((model) => model !== null).slice(0, 20),
      },
      changes: await changesSince(dir, runDir, signal),
    };
  }
  return null;
}

function isSameJob({ config: a }: RunRecord, { config: b }: RunRecord): boolean {
  const paths = ({ sources }: RunRecord['config']): string => JSON.stringify(sources.map(({ path }) => path));
  return a.name === b.name && paths(a) === paths(b);
}

/** Null where a run is not finished or too large, and for a record that failed verification. */
async function changesSince(
  before: string,
  now: string,
  signal: AbortSignal,
): Promise<PreviousChanges | null> {
  for (const dir of [before, now]) {
    const verdicts = await lstat(join(dir, RUN_FILES.verdicts)).catch(() => null);
    if (verdicts === null || verdicts.size > MAX_COMPARED_BYTES) return null;
  }
  try {
    const a = await openFinishedVerdicts(before, signal);
    const b = await openFinishedVerdicts(now, signal);
    return changesOf(await diffRuns(a, b, { out: null, signal }));
  } catch (error) {
    if (error instanceof Failure && error.kind === 'internal') return null;
    throw error;
  }
}

function changesOf({ a, b, pairs, score_shift, decisions }: DiffResult): PreviousChanges {
  return {
    pairs,
    onlyBefore: a.only_here,
    onlyNow: b.only_here,
    meanShift: score_shift.find(({ score }) => score === 'score')?.mean ?? null,
    decisions: Object.entries(decisions).flatMap(([before, row]) =>
      Object.entries(row)
        .filter(([now, items]) => now !== before && items > 0)
        .map(([now, items]) => ({ before, now, items })),
    ),
  };
}

/** Compares a run with any other finished one of its folder, as `comparePrevious` does. */
export async function compareWith(
  dir: string,
  runDir: string,
  signal: AbortSignal,
): Promise<PreviousRun | null> {
  const [{ run, created_at: createdAt }, summary] = await Promise.all([
    readRecord(dir),
    finishedSummary(dir),
  ]);
  if (summary === null) return null;
  const { items, verdicts, errors, flagged, by_decision, by_category, without_category, partial } = summary;
  const models = new Set(summary.guards.map(({ fingerprint }) => fingerprint));
  const counts = {
    ...{ items, verdicts, errors, flagged, by_decision, by_category, without_category, partial },
    fingerprints: [...models].filter((model) => model !== null).slice(0, 20),
  };
  return { run, createdAt, isChosen: true, counts, changes: await changesSince(dir, runDir, signal) };
}
