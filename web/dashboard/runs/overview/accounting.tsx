import type { RunDetail } from '../../../../src/dashboard/api/runs.ts';
import { Link } from '../../app/router.tsx';
import { DecisionBar } from '../../ui/decision-bar.tsx';
import { count, formatCount } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Reviewed } from '../run-state.tsx';

export type Summary = NonNullable<RunDetail['summary']>;

interface Props {
  readonly run: RunDetail;
  readonly summary: Summary;
}

/** Judged and unjudged items, which add up to all items, with equal space, and the next steps. */
export function Accounting({ run, summary: { items, verdicts, errors } }: Props) {
  const { by_decision: decisions, guards } = run;
  return (
    <>
      <section class="card half" aria-labelledby="judged">
        <h2 id="judged">Judged</h2>
        <p class="figure">
          {count(verdicts)} <span>of {formatCount(items, 'item')}</span>
        </p>
        {decisions !== null && (
          <DecisionBar label="How the items ended" endings={{ ...decisions, unjudged: items - verdicts }} />
        )}
        {run.state === 'finished' && <NextSteps run={run} />}
        {guards.some((guard) => guard.startsWith('embedded:')) && (
          <p class="hint">The demonstration guard judged: &quot;allow&quot; does not mean harmless.</p>
        )}
      </section>
      <section class="card half" aria-labelledby="not-judged">
        <h2 id="not-judged">Not judged</h2>
        <p class={`figure ${errors > 0 ? 'is-unjudged' : ''}`}>
          {count(errors)} <span>of {formatCount(items, 'item')}</span>
        </p>
        {errors === 0 ? (
          <p class="with-icon tone-allow">
            <Icon name="check" />
            Every item has a verdict.
          </p>
        ) : (
          <p>Nothing is known of these items. Do not count them as clean.</p>
        )}
      </section>
    </>
  );
}

/** Links to the next steps. */
function NextSteps({ run }: { readonly run: RunDetail }) {
  const decisions = run.by_decision;
  if (decisions === null || decisions.review + decisions.block === 0) return null;
  return (
    <div class="next-steps">
      <Link class="button button-primary" to={{ page: 'run', run: run.run, tab: 'review', flagged: true }}>
        <Icon name="right" />
        Review {formatCount(decisions.review + decisions.block, 'flagged item')}
      </Link>
      <Link class="button" to={{ page: 'run', run: run.run, tab: 'report' }} hash="#previous">
        Compare
      </Link>
      <Reviewed run={run} />
    </div>
  );
}
