import type { RunRow } from '../../../src/dashboard/api/runs.ts';
import { escapeText } from '../../../src/domain/text/escape-text.ts';
import { DecisionBar } from '../ui/decision-bar.tsx';
import { Progress } from '../ui/progress.tsx';
import { doneShare, paceWords, progressWords } from './progress-words.ts';

/** How far a run is, or how its items ended. */
export function RunProgress({ run }: { readonly run: RunRow }) {
  const { by_decision: decisions, not_judged: unjudged } = run;
  if (run.state === 'unreadable') return null;
  if (decisions !== null && run.state === 'finished') {
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
