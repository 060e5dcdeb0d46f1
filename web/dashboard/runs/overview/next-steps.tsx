import type { RunDetail } from '../../../../src/dashboard/api/runs.ts';
import { Link } from '../../app/router.tsx';
import { counted } from '../../ui/format.ts';
import { Reviewed } from '../reviewed.tsx';
import { Icon } from '../../ui/icon.tsx';

/** What to look at next. */
export function NextSteps({ run }: { readonly run: RunDetail }) {
  const decisions = run.by_decision;
  if (decisions === null || decisions.review + decisions.block === 0) return null;
  return (
    <p class="next-steps">
      <Link class="button button-primary" to={{ page: 'run', run: run.run, tab: 'review', flagged: true }}>
        <Icon name="right" />
        Review {counted(decisions.review + decisions.block, 'flagged item')}
      </Link>
      <Link class="button" to={{ page: 'run', run: run.run, tab: 'thresholds' }}>
        Try other thresholds
      </Link>
      <Reviewed run={run} />
    </p>
  );
}
