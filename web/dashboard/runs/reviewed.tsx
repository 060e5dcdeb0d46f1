import type { RunDetail } from '../../../src/dashboard/api/runs.ts';
import { count, counted } from '../ui/format.ts';

/** How far people are with the flagged items of a run: done, left, overturned. */
export function Reviewed({ run }: { readonly run: RunDetail }) {
  const { flagged, reviewed, overturned } = run.reviews;
  const all = run.by_decision === null ? null : run.by_decision.review + run.by_decision.block;
  const others = reviewed - flagged;
  return (
    <span class="numbers">
      {count(flagged)}
      {all !== null && ` of ${count(all)}`} flagged reviewed
      {all !== null && `, ${count(Math.max(0, all - flagged))} left`}
      {others > 0 && `, ${counted(others, 'other')}`}, {count(overturned)} overturned
    </span>
  );
}
