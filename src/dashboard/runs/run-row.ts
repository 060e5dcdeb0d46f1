import type { RunRecord } from '../../config/run-config.ts';
import type { RunStatus } from '../../fleet/status/run-status.ts';
import { purgedText, type Purged } from '../../record/purged.ts';
import type { Summary } from '../../record/summary/summary.ts';
import type { RunAction, RunProgress, RunRow, RunState } from '../api/runs.ts';

/** Facts about a run in any state. */
export interface KnownRun {
  /** Name of the run directory. */
  readonly run: string;
  readonly record: RunRecord;
  /** Whether this user may change the run, on this machine. */
  readonly mayChange: boolean;
}

const NO_PROGRESS: RunProgress = {
  planned: 0,
  plan_closed: false,
  judged: 0,
  review: 0,
  block: 0,
  errors: 0,
  by_category: {},
  items_per_second: null,
  seconds_left: null,
};

/** Row of a run that is finished and possibly purged. */
export function finishedRow(known: KnownRun, summary: Summary, purged: Purged | null): RunRow {
  const { items: planned, verdicts: judged, errors, by_decision: byDecision, seconds } = summary;
  return {
    ...headOf(known),
    state: purged === null ? 'finished' : 'purged',
    problem: purged && purgedText(purged),
    actions: [],
    progress: {
      ...{ ...NO_PROGRESS, planned, plan_closed: true, judged, errors },
      ...{ review: byDecision.review, block: byDecision.block },
    },
    by_decision: byDecision,
    not_judged: planned - judged,
    seconds,
  };
}

/** Row of a run that is not finished. */
export function openRow(known: KnownRun, status: RunStatus): RunRow {
  const { planned, plan_closed, judged, review, block, errors, items_per_second, seconds_left } = status;
  const { by_category } = status;
  return {
    ...headOf(known),
    state: status.state,
    problem: status.stuck,
    actions: known.mayChange ? ACTIONS[status.state] : [],
    progress: {
      ...{ planned, plan_closed, judged, review, block, errors, by_category },
      ...{ items_per_second, seconds_left },
    },
    by_decision: null,
    not_judged: null,
    seconds: null,
  };
}

/** Row of a directory that cannot be read as a run. */
export function unreadableRow(run: string, problem: string): RunRow {
  return {
    ...{ run, name: run, created_at: null, state: 'unreadable', problem, actions: [] },
    ...{ progress: NO_PROGRESS, by_decision: null, not_judged: null, seconds: null },
  };
}

/** Actions possible in each state. */
const ACTIONS: Readonly<Record<RunState, readonly RunAction[]>> = {
  running: ['pause', 'cancel'],
  paused: ['continue', 'cancel'],
  stopped: ['cancel'],
  cancelled: [],
  finished: [],
  purged: [],
  unreadable: [],
};

function headOf({ run, record }: KnownRun): Pick<RunRow, 'run' | 'name' | 'created_at'> {
  return { run, name: record.config.name, created_at: record.created_at };
}
