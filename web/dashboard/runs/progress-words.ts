import type { RunRow } from '../../../src/dashboard/api/runs.ts';
import { count, formatCount, duration, rate } from '../ui/format.ts';

/** Number of completed items of the pass: judged, or ended in an error. */
export const doneItems = ({ judged, errors }: RunRow['progress']): number => judged + errors;

/** Completed fraction of a pass, 0 … 1; null while more items may be found. 1 only if all are done. */
export function doneShare(progress: RunRow['progress']): number | null {
  if (!progress.plan_closed) return null;
  return progress.planned === 0 ? 1 : Math.min(1, doneItems(progress) / progress.planned);
}

/** Progress of a run, in words: `62%, 30,975 of 48,210 items, 41 not judged`. */
export function progressWords({ progress }: Pick<RunRow, 'progress'>): string {
  const { planned, errors } = progress;
  const share = doneShare(progress);
  const parts = [
    share === null
      ? `${count(doneItems(progress))} of ${formatCount(planned, 'item')} found so far`
      : `${Math.floor(100 * share)}%`,
  ];
  if (share !== null) parts.push(`${count(doneItems(progress))} of ${formatCount(planned, 'item')}`);
  if (errors > 0) parts.push(`${count(errors)} not judged`);
  return parts.join(', ');
}

/** Speed of a run, in words: `231 items/s, about 1 min 14 s left`; empty when it does not progress. */
export function paceWords({ state, progress }: Pick<RunRow, 'state' | 'progress'>): string {
  if (state !== 'running') return '';
  const { items_per_second: perSecond, seconds_left: left } = progress;
  return [
    perSecond === null ? null : `${rate(perSecond)} items/s`,
    left === null ? null : `about ${duration(left)} left`,
  ]
    .filter((part) => part !== null)
    .join(', ');
}
