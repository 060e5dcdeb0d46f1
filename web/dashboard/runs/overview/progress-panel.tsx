import type { RunDetail } from '../../../../src/dashboard/api/runs.ts';
import { DecisionBar } from '../../ui/decision-bar.tsx';
import { count } from '../../ui/format.ts';
import { Progress } from '../../ui/progress.tsx';
import { doneShare, paceWords, progressWords } from '../progress-words.ts';

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
