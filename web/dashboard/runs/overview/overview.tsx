import type { RunDetail } from '../../../../src/dashboard/api/runs.ts';
import { DecisionBar } from '../../ui/decision-bar.tsx';
import { Command } from '../../ui/untrusted-text.tsx';
import { Progress } from '../../ui/progress.tsx';
import { doneShare, paceWords, progressWords } from '../progress-words.ts';
import { RunProblem } from '../run-state.tsx';
import { Accounting } from './accounting.tsx';
import { Categories } from './categories.tsx';
import { RunFacts } from './facts.tsx';
import { ToFix } from './to-fix.tsx';

/** The decisions of an unfinished run. */
function soFar({ progress: { judged, review, block } }: RunDetail): RunDetail['by_decision'] {
  return { allow: judged - review - block, review, block };
}

/**
 * A run's verdicts and the way to review them, its categories, what to fix, and its record, in the order of the report.
 */
export function Overview({ run }: { readonly run: RunDetail }) {
  const { summary } = run;
  return (
    <div class="stack">
      <RunProblem problem={run.problem} />
      {run.command !== null && summary === null && (
        <section class="card" aria-labelledby="go-on">
          <h2 id="go-on">Continue this run</h2>
          <p>In a terminal:</p>
          <Command text={run.command} />
        </section>
      )}
      {summary === null ? (
        <>
          <ProgressPanel run={run} />
          <Categories
            summary={{ by_category: run.progress.by_category, without_category: 0, restricted: 0 }}
            decisions={soFar(run)}
          />
        </>
      ) : (
        <div class="halves">
          <Accounting run={run} summary={summary} />
          <Categories summary={summary} decisions={run.by_decision} />
          {run.state === 'finished' && summary.errors > 0 && <ToFix run={run} causes={summary.not_judged} />}
        </div>
      )}
      <RunFacts run={run} />
    </div>
  );
}

/** Progress of a run, with its numbers. */
function ProgressPanel({ run }: { readonly run: RunDetail }) {
  const { judged, review, block, errors } = run.progress;
  const pace = paceWords(run);
  return (
    <section class="card stack" aria-labelledby="progress">
      <h2 id="progress">Progress{run.pass > 1 && ` of pass ${run.pass}`}</h2>
      <Progress label="Progress" share={doneShare(run.progress)} still={run.state !== 'running'} />
      <p class="numbers">
        {progressWords(run)}
        {pace !== '' && <span class="muted"> · {pace}</span>}
      </p>
      {judged > 0 && (
        <DecisionBar
          label="How the items ended so far"
          endings={{ allow: judged - review - block, review, block, unjudged: errors }}
        />
      )}
    </section>
  );
}
