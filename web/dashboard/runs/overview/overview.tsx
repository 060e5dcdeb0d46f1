import type { RunDetail } from '../../../../src/dashboard/api/runs.ts';
import { Link } from '../../app/router.tsx';
import { DecisionBar } from '../../ui/decision-bar.tsx';
import { Command } from '../../ui/untrusted-text.tsx';
import { count, formatCount } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Progress } from '../../ui/progress.tsx';
import { doneShare, paceWords, progressWords } from '../progress-words.ts';
import { Reviewed, RunProblem } from '../run-state.tsx';
import { Accounting } from './accounting.tsx';
import { Categories } from './categories.tsx';
import { Facts } from './facts.tsx';
import { ToFix } from './to-fix.tsx';

/** The decisions of a run that is not finished. */
function soFar({ progress: { judged, review, block } }: RunDetail): RunDetail['by_decision'] {
  return { allow: judged - review - block, review, block };
}

/** A run's findings, its unjudged items, and its record. */
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

/** Links to the next steps. */
export function NextSteps({ run }: { readonly run: RunDetail }) {
  const decisions = run.by_decision;
  if (decisions === null || decisions.review + decisions.block === 0) return null;
  return (
    <p class="next-steps">
      <Link class="button button-primary" to={{ page: 'run', run: run.run, tab: 'review', flagged: true }}>
        <Icon name="right" />
        Review {formatCount(decisions.review + decisions.block, 'flagged item')}
      </Link>
      <Link class="button" to={{ page: 'run', run: run.run, tab: 'thresholds' }}>
        Try other thresholds
      </Link>
      <Reviewed run={run} />
    </p>
  );
}

/** How far a run is, with the numbers that it consists of. */
export function ProgressPanel({ run }: { readonly run: RunDetail }) {
  const { planned, plan_closed: closed, judged, review, block, errors } = run.progress;
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
          label="Decisions on the items judged so far"
          endings={{ allow: judged - review - block, review, block }}
        />
      )}
      <dl class="figures">
        <Figure name={closed ? 'Items' : 'Items found so far'} value={planned} />
        <Figure name="Judged" value={judged} />
        <Figure name="Not judged" value={errors} />
      </dl>
    </section>
  );
}

function Figure({ name, value }: { readonly name: string; readonly value: number }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{count(value)}</dd>
    </div>
  );
}
