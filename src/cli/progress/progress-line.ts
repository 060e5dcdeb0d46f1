/** Progress of a run, for the progress line. */
export interface ProgressSnapshot {
  /** Items found so far. */
  readonly planned: number;
  /** Whether `planned` is final. */
  readonly planClosed: boolean;
  /** Items with a verdict. */
  readonly judged: number;
  /** Items that ended in an error; not among `judged`. */
  readonly errors: number;
  /** Items whose outcome is that of another item; not among the others. */
  readonly copies: number;
  /** Share of the whole run that is done, 0 … 1, for an estimate while the plan is open; null when unknown. */
  readonly fraction: number | null;
  /** What holds the run up, if anything: `waiting for the guard`. */
  readonly note: string | null;
}

/** Items that need no more work. */
export function doneItems({
  judged,
  errors,
  copies,
}: Pick<ProgressSnapshot, 'judged' | 'errors' | 'copies'>): number {
  return judged + errors + copies;
}

const counted = (count: number): string => Math.round(count).toLocaleString('en-US');

/** A duration in the two units that matter: `45 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`. */
export function timeLeft(seconds: number): string {
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  const minutes = Math.round(s / 60);
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  const hours = Math.round(s / 3600);
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

function secondsLeft(snapshot: ProgressSnapshot, perSecond: number): number | null {
  const done = doneItems(snapshot);
  if (perSecond <= 0) return null;
  if (snapshot.planClosed) return (snapshot.planned - done) / perSecond;
  if (snapshot.fraction === null || snapshot.fraction <= 0) return null;
  return (done / snapshot.fraction - done) / perSecond;
}

/**
 * One line of progress without a line break: items done of items known (`+` while more may be found), items per
 * second, time left, errors, note. `perSecond` is the recent rate of done items, null when not known yet.
 */
export function progressLine(snapshot: ProgressSnapshot, perSecond: number | null): string {
  const done = doneItems(snapshot);
  const parts = [`${counted(done)} of ${counted(snapshot.planned)}${snapshot.planClosed ? '' : '+'} items`];
  if (perSecond !== null) {
    parts.push(`${perSecond < 10 ? perSecond.toFixed(1) : counted(perSecond)}/s`);
    const left = secondsLeft(snapshot, perSecond);
    if (left !== null) parts.push(`about ${timeLeft(left)} left`);
  }
  if (snapshot.copies > 0) parts.push(`${counted(snapshot.copies)} copies`);
  if (snapshot.errors > 0) parts.push(`${counted(snapshot.errors)} not judged`);
  if (snapshot.note !== null) parts.push(snapshot.note);
  return parts.join(', ');
}
