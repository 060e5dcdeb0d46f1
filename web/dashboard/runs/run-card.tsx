import type { RunRow } from '../../../src/dashboard/api/runs.ts';
import { escapeText } from '../../../src/domain/text/escape-text.ts';
import { Link } from '../app/router.tsx';
import { DecisionBar } from '../ui/decision-bar.tsx';
import { UntrustedText } from '../ui/untrusted-text.tsx';
import { duration, localTime } from '../ui/format.ts';
import { Progress } from '../ui/progress.tsx';
import { doneShare, paceWords, progressWords } from './progress-words.ts';
import { RunActions } from './run-actions.tsx';
import { RunProblem, RunStateBadge } from './run-state.tsx';

/** A run in the list of runs. */
export function RunCard({ run }: { readonly run: RunRow }) {
  return (
    <li class="card run-card">
      <div class="run-card-head">
        <h2>
          {run.state === 'unreadable' ? (
            <UntrustedText text={run.name} />
          ) : (
            <Link to={{ page: 'run', run: run.run, tab: 'overview' }}>
              <UntrustedText text={run.name} />
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
        <UntrustedText code text={run.run} />
      </p>
    </li>
  );
}

/** Progress of a run, or how its items ended. */
export function RunProgress({ run }: { readonly run: RunRow }) {
  const { by_decision: decisions, not_judged: unjudged } = run;
  if (run.state === 'unreadable') return null;
  if (decisions !== null) {
    return (
      <DecisionBar
        label={`How the items of ${escapeText(run.name, 80)} ended`}
        endings={{ ...decisions, unjudged: unjudged ?? 0 }}
      />
    );
  }
  return (
    <div class="run-progress">
      <Progress
        label={`Progress of ${escapeText(run.name, 80)}`}
        share={doneShare(run.progress)}
        still={run.state !== 'running'}
      />
      <p class="small numbers">
        {progressWords(run)}
        <span class="muted">{paceWords(run) !== '' && ` · ${paceWords(run)}`}</span>
      </p>
    </div>
  );
}
