import type { RunConfig } from '../config/run-config.ts';
import type { Summary } from '../record/summary/summary.ts';
import type { Continued } from './continue-run.ts';
import type { Run } from './create-run.ts';

/**
 * - `complete`: every item was judged, or the configuration allows errors and no items
 * - `incomplete`: items are missing from the record
 * - `gate`: a gate of `failIf` tripped
 * - `not-judged`: some items ended in an error, or the sources hold no item: a gate must not pass on an empty export
 */
type RunEnd = 'complete' | 'incomplete' | 'gate' | 'not-judged';

/** Exit status of a command that took a run to this end; `--on-finish` commands receive it too. */
export const EXIT_STATUS: Readonly<Record<RunEnd, number>> = {
  complete: 0,
  incomplete: 1,
  gate: 3,
  'not-judged': 5,
};

/** The result of starting, resuming or retrying a run. */
export interface RunResult extends Continued {
  readonly run: Run;
  readonly end: RunEnd;
}

export function resultOf(run: Run, continued: Continued): RunResult {
  return { run, ...continued, end: runEnd(run.record.config, continued.summary) };
}

/** Determines how a run ended, from its summary. */
export function runEnd(config: RunConfig, summary: Summary): RunEnd {
  if (summary.status === 'incomplete') return 'incomplete';
  if (summary.gates.some(({ tripped }) => tripped)) return 'gate';
  if (summary.items === 0 && !config.allowEmpty) return 'not-judged';
  return summary.errors > 0 && !config.allowErrors ? 'not-judged' : 'complete';
}
