import type { ReviewProgress } from '../../../src/dashboard/api/reviews.ts';
import type { RunDetail, RunRow, RunState } from '../../../src/dashboard/api/runs.ts';
import { escapeText } from '../../../src/domain/text/escape-text.ts';
import { requestJson } from '../api/http.ts';
import { runApi } from '../api/runs.ts';
import { useLoad } from '../api/use-load.ts';
import { Badge, type Tone } from '../ui/badge.tsx';
import { count, formatCount } from '../ui/format.ts';
import { Icon, type IconName } from '../ui/icon.tsx';

const STATES: Readonly<
  Record<RunState, { readonly words: string; readonly icon: IconName; readonly tone: Tone }>
> = {
  running: { words: 'Running', icon: 'running', tone: 'accent' },
  paused: { words: 'Paused', icon: 'paused', tone: 'neutral' },
  stopped: { words: 'Stopped, not finished', icon: 'stopped', tone: 'review' },
  cancelled: { words: 'Cancelled', icon: 'cancelled', tone: 'neutral' },
  finished: { words: 'Finished', icon: 'check', tone: 'allow' },
  purged: { words: 'Purged', icon: 'info', tone: 'neutral' },
  unreadable: { words: 'Cannot be read', icon: 'alert', tone: 'block' },
};

export function RunStateBadge({ state }: { readonly state: RunState }) {
  const { words, icon, tone } = STATES[state];
  return (
    <Badge tone={tone} icon={icon}>
      {words}
    </Badge>
  );
}

const MAX_PROBLEM = 300;

/** Why a run does not progress, or cannot be read. */
export function RunProblem({ problem }: Pick<RunRow, 'problem'>) {
  if (problem === null) return null;
  return (
    <p class="run-problem">
      <Icon name="alert" />
      <span>{escapeText(problem, MAX_PROBLEM)}</span>
    </p>
  );
}

/** Review progress of the flagged items of a finished run, which of these are new, and which are open again. */
export function Reviewed({ run }: { readonly run: RunDetail }) {
  const { value, error } = useLoad(`${run.run} ${run.version}`, (signal) =>
    requestJson<ReviewProgress>(runApi(run.run, '/reviews'), { signal }),
  );
  if (error !== null) return <span role="alert">{escapeText(error.message, MAX_PROBLEM)}</span>;
  if (value === null || run.by_decision === null) return null;
  const { flagged, reviewed, overturned, reopened, fresh } = value;
  const all = run.by_decision.review + run.by_decision.block;
  const others = reviewed - flagged;
  return (
    <span class="numbers">
      {count(flagged)} of {count(all)} flagged reviewed, {count(all - flagged)} left
      {reopened > 0 && `, ${count(reopened)} of them reopened`}
      {fresh !== null && `, ${count(fresh)} new since the last run, ${count(all - fresh)} seen before`}
      {others > 0 && `, ${formatCount(others, 'other')}`}, {count(overturned)} overturned
    </span>
  );
}
