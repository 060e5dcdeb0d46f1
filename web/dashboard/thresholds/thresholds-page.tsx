import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { ScoreHistograms } from '../../../src/dashboard/api/items.ts';
import type { RunDetail } from '../../../src/dashboard/api/runs.ts';
import { useLoad } from '../api/use-load.ts';
import { fetchScores } from '../review/review-api.ts';
import { Button } from '../ui/button.tsx';
import { download } from '../ui/download.ts';
import { count } from '../ui/format.ts';
import { Notice } from '../ui/notice.tsx';
import { FIRST_USE, Skeleton } from '../ui/skeleton.tsx';
import { toast } from '../ui/toast.tsx';
import { EffectPanel } from './effect-panel.tsx';
import {
  findCrossedThresholds,
  hasThresholds,
  keysOf,
  createModel,
  policyYaml,
  toThresholdQuery,
  withLevel,
  type Model,
} from './model.ts';
import { ThresholdRow } from './threshold-row.tsx';

/** Sliders for the thresholds of a run, and the effect of changing them. The run itself does not change. */
export function ThresholdsPage({ run }: { readonly run: RunDetail }) {
  const scores = useLoad(run.run, (signal) => fetchScores(run.run, signal));
  if (scores.error !== null) return <Notice tone="block" role="alert" title={scores.error.message} />;
  if (scores.value === null) return <Skeleton slow={FIRST_USE} />;
  return <Sliders run={run} scores={scores.value} />;
}

function Sliders({ run, scores }: { readonly run: RunDetail; readonly scores: ScoreHistograms }) {
  const { score, categories } = scores;
  const initial = useMemo(() => createModel(run.policy, categories), [run.run, categories]);
  const model = useSignal<Model>(initial);
  const wrong = findCrossedThresholds(model.value);
  return (
    <div class="thresholds-page">
      <div class="threshold-rows">
        <p class="muted">
          Move a slider to see what other thresholds would decide on the scores of this run. Nothing of the
          run changes. The bars show how many items have a score, on a logarithmic scale; the small numbers,
          how many are at or above the threshold.
        </p>
        <BinaryScores run={run} />
        {!hasThresholds(model.value) && (
          <Notice title="Without thresholds, the guard's flags decide">
            <p>
              What the guard flags is blocked. With thresholds, it is at least reviewed
              {run.policy.allowFlagged && ', unless the policy allows them, as this one does'}.
            </p>
          </Notice>
        )}
        <table class="threshold-table">
          <thead>
            <tr>
              <th scope="col">Category</th>
              <th scope="col">Scores</th>
              <th scope="col">Review from</th>
              <th scope="col">Block from</th>
            </tr>
          </thead>
          <tbody>
            {keysOf(model.value).map((key) => (
              <ThresholdRow
                key={key}
                model={model.value}
                name={key}
                bins={key === 'default' ? score : categories[key]}
                crossed={wrong.includes(key)}
                change={(level, value) => (model.value = withLevel(model.value, key, level, value))}
              />
            ))}
          </tbody>
        </table>
      </div>
      <div class="effect-column">
        <EffectPanel run={run.run} query={wrong.length > 0 ? null : toThresholdQuery(model.value)} />
        <PolicyFile model={model.value} run={run} wrong={wrong.length > 0} />
        <Button disabled={model.value === initial} onClick={() => (model.value = initial)} icon="reload">
          Reset to the run's policy
        </Button>
      </div>
    </div>
  );
}

/** Explains that the sliders have no effect for guards without probabilities. */
function BinaryScores({ run: { summary } }: { readonly run: RunDetail }) {
  if (summary === null || summary.binary_scores === 0) return null;
  const { binary_scores: binary, verdicts } = summary;
  const which = binary === verdicts ? 'All' : `${count(binary)} of ${count(verdicts)}`;
  return (
    <Notice title={`${which} verdicts have binary scores`}>
      <p>
        Their guard gives no probabilities, so each score is 0 or 1. For these, every threshold above 0
        decides the same: moving it changes nothing.
      </p>
    </Notice>
  );
}

interface PolicyFileProps {
  readonly model: Model;
  readonly run: RunDetail;
  readonly wrong: boolean;
}

/** The policy file for the current sliders. */
function PolicyFile({ model, run, wrong }: PolicyFileProps) {
  if (wrong) return <p class="muted small">There is no policy file with review above block.</p>;
  const yaml = policyYaml(model, run.policy);
  const copy = (): void => {
    navigator.clipboard.writeText(yaml).then(
      () => toast('The policy is in the clipboard.', 'allow'),
      () => toast('The browser did not allow it. Select the text, and copy it yourself.', 'block'),
    );
  };
  return (
    <details class="policy-file">
      <summary>As a policy file</summary>
      <pre tabIndex={0} aria-label="Policy file">
        {yaml}
      </pre>
      <Button onClick={copy}>Copy</Button>
      <Button onClick={() => download(new Blob([yaml], { type: 'application/yaml' }), 'policy.yaml')}>
        Download policy.yaml
      </Button>
    </details>
  );
}
