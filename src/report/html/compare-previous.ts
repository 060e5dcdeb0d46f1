import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunRecord } from '../../config/run-config.ts';
import { Failure } from '../../domain/failure.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { type FinishedBefore, findPreviousRun } from '../../record/previous-run.ts';
import { readRecord } from '../../record/read-record.ts';
import { finishedSummary } from '../../record/summary/finished-summary.ts';
import { diffRuns, type DiffResult } from '../../analysis/diff-runs.ts';
import { openFinishedVerdicts } from '../../analysis/finished-verdicts.ts';
import type { PreviousChanges, PreviousRun } from './report-data.ts';

/** Maximum size of verdicts.jsonl of either run to compare item by item: some 200,000 items. */
const MAX_COMPARED_BYTES = 200 * 1024 * 1024;

/**
 * Compares a run with the one before it, item by item only if both are small enough. Null when there is no earlier run.
 */
export async function comparePrevious(
  runDir: string,
  record: RunRecord,
  signal: AbortSignal,
): Promise<PreviousRun | null> {
  const previous = await findPreviousRun(runDir, record, signal);
  return previous && compare(previous, runDir, signal);
}

async function compare(
  { dir, record, summary }: FinishedBefore,
  runDir: string,
  signal: AbortSignal,
): Promise<PreviousRun> {
  const { items, verdicts, errors, flagged, by_decision, by_category, without_category, partial } = summary;
  const models = new Set(summary.guards.map(({ fingerprint }) => fingerprint));
  return {
    run: record.run,
    createdAt: record.created_at,
    counts: {
      ...{ items, verdicts, errors, flagged, by_decision, by_category, without_category, partial },
      fingerprints: [...models].filter((model) => model !== null).slice(0, 20),
    },
    changes: await changesSince(dir, runDir, signal),
  };
}

/** Null if a run is unfinished or too large, or its record failed verification. */
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

/** Compares a run with any other finished run of its folder, like `comparePrevious`. */
export async function compareWith(
  dir: string,
  runDir: string,
  signal: AbortSignal,
): Promise<PreviousRun | null> {
  const [record, summary] = await Promise.all([readRecord(dir), finishedSummary(dir)]);
  return summary && { ...(await compare({ dir, record, summary }, runDir, signal)), isChosen: true };
}
