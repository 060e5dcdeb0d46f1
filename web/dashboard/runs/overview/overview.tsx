import type { RunDetail } from '../../../../src/dashboard/api/runs.ts';
import { Command } from '../../ui/foreign.tsx';
import { RunProblem } from '../run-problem.tsx';
import { Accounting } from './accounting.tsx';
import { Categories } from './categories.tsx';
import { Facts } from './facts.tsx';
import { NextSteps } from './next-steps.tsx';
import { ToFix } from './to-fix.tsx';
import { ProgressPanel } from './progress-panel.tsx';

/** The decisions of a run that is not finished. */
function soFar({ progress: { judged, review, block } }: RunDetail): RunDetail['by_decision'] {
  return { allow: judged - review - block, review, block };
}

/** What a run has found, what it has not judged, and what its record is. */
export function Overview({ run }: { readonly run: RunDetail }) {
  const { summary } = run;
  return (
    <div class="stack">
      <RunProblem problem={run.problem} />
      {run.command !== null && (
        <section class="card" aria-labelledby="go-on">
          <h2 id="go-on">{run.state === 'finished' ? 'Judge failed items again' : 'Continue this run'}</h2>
          <p>In a terminal:</p>
          <Command text={run.command} />
        </section>
      )}
      {(summary === null || run.state !== 'finished') && (
        <>
          <ProgressPanel run={run} />
          <Categories
            summary={{ by_category: run.progress.by_category, without_category: 0, restricted: 0 }}
            decisions={soFar(run)}
          />
        </>
      )}
      {summary !== null && (
        <>
          <Accounting summary={summary} decisions={run.by_decision} />
          {summary.errors > 0 && <ToFix run={run} />}
          <NextSteps run={run} />
          <Categories summary={summary} decisions={run.by_decision} />
        </>
      )}
      <Facts run={run} />
    </div>
  );
}
