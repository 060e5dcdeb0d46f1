import type { RunDetail } from '../../../../src/dashboard/api/runs.ts';
import { RunProblem } from '../run-problem.tsx';
import { Accounting } from './accounting.tsx';
import { Categories } from './categories.tsx';
import { Facts } from './facts.tsx';
import { NextSteps } from './next-steps.tsx';
import { ProgressPanel } from './progress-panel.tsx';

/** What a run has found, what it has not judged, and what its record is. */
export function Overview({ run }: { readonly run: RunDetail }) {
  const { summary } = run;
  return (
    <div class="stack">
      <RunProblem problem={run.problem} />
      {(summary === null || run.state !== 'finished') && <ProgressPanel run={run} />}
      {summary !== null && (
        <>
          <Accounting summary={summary} decisions={run.by_decision} />
          <NextSteps run={run} />
          <Categories summary={summary} decisions={run.by_decision} />
        </>
      )}
      <Facts run={run} />
    </div>
  );
}
