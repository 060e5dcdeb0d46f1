import { displayWidth } from '../../domain/text/characters.ts';
import type { RunView } from '../../runs/progress.ts';

/** Progress of a run, for display. */
export interface ProgressSnapshot extends Omit<RunView, 'readShare'> {
  /** Completed fraction of the whole run, from 0 to 1; an estimate while the plan is open, null if unknown. */
  readonly fraction: number | null;
}

/** Counts the items that need no more work: those that are committed. */
export function doneItems({ judged, errors }: Pick<ProgressSnapshot, 'judged' | 'errors'>): number {
  return judged + errors;
}

type Counted = (count: number) => string;

const inFull: Counted = (count) => Math.round(count).toLocaleString('en-US');

const COMPACT: Intl.NumberFormatOptions = { notation: 'compact', maximumFractionDigits: 1 };
const inShort: Counted = (count) => count.toLocaleString('en-US', COMPACT);

/** Formats a duration in its two largest relevant units: `45 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`. */
export function timeLeft(seconds: number): string {
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  const minutes = Math.round(s / 60);
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  const hours = Math.round(s / 3600);
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** `42%`, or `about 42%` while items may still be found; null if unknown. Never 100% before everything is done. */
function percentage(snapshot: ProgressSnapshot): string | null {
  const done = doneItems(snapshot);
  if (!snapshot.planClosed) {
    return snapshot.fraction === null ? null : `about ${Math.min(99, Math.floor(snapshot.fraction * 100))}%`;
  }
  return `${snapshot.planned === 0 ? 100 : Math.floor((done * 100) / snapshot.planned)}%`;
}

function secondsLeft(snapshot: ProgressSnapshot, perSecond: number): number | null {
  const done = doneItems(snapshot);
  if (perSecond <= 0) return null;
  if (snapshot.planClosed) return (snapshot.planned - done) / perSecond;
  if (snapshot.fraction === null || snapshot.fraction <= 0) return null;
  return (done / snapshot.fraction - done) / perSecond;
}

/** Percentage, rate and time left, in this order, without those that are unknown. */
function paceOf(snapshot: ProgressSnapshot, perSecond: number | null): readonly (string | null)[] {
  const left = perSecond === null ? null : secondsLeft(snapshot, perSecond);
  const rate =
    perSecond === null ? null : `${perSecond < 10 ? perSecond.toFixed(1) : inFull(perSecond)} items/s`;
  return [percentage(snapshot), rate, left === null ? null : `about ${timeLeft(left)} left`];
}

const joined = (parts: readonly (string | null)[], separator: string): string =>
  parts.filter((part) => part !== null && part !== '').join(separator);

/** The first string that fits, or the last one. */
function firstThatFits(texts: readonly string[], columns: number): string {
  return texts.find((text) => displayWidth(text) <= columns) ?? texts.at(-1)!;
}

/** The pace or what the run waits for, then the findings: the first string is complete, each further one is shorter. */
function paceTexts(snapshot: ProgressSnapshot, perSecond: number | null): readonly string[] {
  const { block, review, errors, note } = snapshot;
  const flags = (count: Counted): string => `${count(block)} block, ${count(review)} review`;
  const found = (count: Counted): string =>
    errors > 0 ? `${flags(count)}, ${count(errors)} not judged` : flags(count);
  const [share, rate, left] = paceOf(snapshot, perSecond);
  const pace = note === null ? joined([share!, rate!, left!], ', ') : joined([share!, note], ', ');
  const brief = joined([share!, note ?? left!], ', ');
  return [
    joined([pace, found(inFull)], '; '),
    joined([brief, found(inFull)], '; '),
    joined([brief, found(inShort)], '; '),
    joined([share!, flags(inShort)], '; '),
    brief,
  ];
}

/** Items by stage: the first string is complete, each further one is shorter. */
function stageTexts(snapshot: ProgressSnapshot): readonly string[] {
  const { planned, planClosed, sent, answered, reused } = snapshot;
  const done = doneItems(snapshot);
  const more = planClosed ? '' : '+';
  const stages = (count: Counted): string =>
    joined(
      [
        `read ${count(planned)}${more}`,
        sent === null ? null : `sent ${count(sent)}`,
        answered === null ? null : `judged ${count(answered)}`,
        `committed ${count(done)}`,
      ],
      ' > ',
    );
  return [
    (reused ?? 0) > 0 ? `${stages(inFull)} (${inFull(reused!)} reused)` : stages(inFull),
    stages(inFull),
    stages(inShort),
    `${inFull(done)} of ${inFull(planned)}${more} items`,
    `${inShort(done)} of ${inShort(planned)}${more}`,
  ];
}

/**
 * Two lines of progress that fit `columns` if possible. `perSecond` is the recent rate of done items, null if not known
 * yet. The stages add up: items read are those committed plus those still on their way.
 *
 *     42%, 523 items/s, about 14 s left; 3 block, 12 review, 2 not judged
 *     read 12,345 > sent 6,100 > judged 5,400 > committed 5,230 (40 reused)
 */
export function progressLines(
  snapshot: ProgressSnapshot,
  perSecond: number | null,
  columns = Number.POSITIVE_INFINITY,
): [pace: string, stages: string] {
  return [
    firstThatFits(paceTexts(snapshot, perSecond), columns),
    firstThatFits(stageTexts(snapshot), columns),
  ];
}

/** Progress as a single line, for logs. */
export function progressLine(snapshot: ProgressSnapshot, perSecond: number | null): string {
  return progressLines(snapshot, perSecond).join('; ');
}
