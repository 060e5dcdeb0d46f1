import type { RunRow } from '../../../src/dashboard/api/runs.ts';
import { count, formatCount, duration, rate } from '../ui/format.ts';

/** Items of the pass that are done: judged, or ended in an error. */
export const doneItems = ({ judged, errors }: RunRow['progress']): number => judged + errors;

/** How much of a pass is done, 0 … 1; null as long as items may still be found. All only when it is all. */
export function doneShare(progress: RunRow['progress']): number | null {
  if (!progress.plan_closed) return null;
  return progress.planned === 0 ? 1 : Math.min(1, doneItems(progress) / progress.planned);
}

/** How far a run is, in words: `62%, 30,975 of 48,210 items, 41 not judged`. */
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

/** How fast a run is, in words: `231 items/s, about 1 min 14 s left`; empty when it does not move. */
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
