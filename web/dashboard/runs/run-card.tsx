import type { RunRow } from '../../../src/dashboard/api/runs.ts';
import { Link } from '../app/router.tsx';
import { Foreign } from '../ui/foreign.tsx';
import { duration, localTime } from '../ui/format.ts';
import { RunActions } from './run-actions.tsx';
import { RunProblem } from './run-problem.tsx';
import { RunProgress } from './run-progress.tsx';
import { RunStateBadge } from './run-state.tsx';

/** A run in the list of runs. */
export function RunCard({ run }: { readonly run: RunRow }) {
  return (
    <li class="card run-card">
      <div class="run-card-head">
        <h2>
          {run.state === 'unreadable' ? (
            <Foreign text={run.name} />
          ) : (
            <Link to={{ page: 'run', run: run.run, tab: 'overview' }}>
              <Foreign text={run.name} />
            </Link>
          )}
        </h2>
        <RunStateBadge state={run.state} />
        <RunActions run={run} />
      </div>
      <RunProblem problem={run.problem} />
      <RunProgress run={run} />
      <p class="small muted run-when">
        {run.created_at !== null && (
          <span>
            Started <time dateTime={run.created_at}>{localTime(run.created_at)}</time>
            {run.seconds !== null && `, took ${duration(run.seconds)}`}
          </span>
        )}
        <Foreign code text={run.run} />
      </p>
    </li>
  );
}
