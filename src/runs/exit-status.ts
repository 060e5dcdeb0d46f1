import type { RunConfig } from '../config/run-config.ts';

export interface Tally {
  readonly status: 'finished' | 'incomplete';
  readonly items: number;
  readonly verdicts: number;
  readonly errors: number;
  /** Verdicts decided review or block. */
  readonly flagged: number;
}

/** The gates of `failIf` that a run trips, as lines for people. A gate trips above its rate, not at it. */
export function trippedGates(failIf: RunConfig['failIf'], tally: Tally): readonly string[] {
  const tripped: string[] = [];
  const gate = (name: string, part: number, whole: number, limit: number | null): void => {
    if (limit !== null && whole > 0 && part / whole > limit) {
      tripped.push(`${name} ${(part / whole).toPrecision(3)} is above ${limit}`);
    }
  };
  gate('flaggedRate', tally.flagged, tally.verdicts, failIf.flaggedRate);
  gate('errorRate', tally.errors, tally.items, failIf.errorRate);
  return tripped;
}

/**
 * The exit status of a run that has ended: 0, 1 (incomplete), 3 (a gate) or 5 (items not judged, or no items at all: a
 * gate must not pass because an export was empty).
 */
export function exitStatus(
  config: Pick<RunConfig, 'failIf' | 'allowErrors' | 'allowEmpty'>,
  tally: Tally,
): 0 | 1 | 3 | 5 {
  if (tally.status === 'incomplete') return 1;
  if (trippedGates(config.failIf, tally).length > 0) return 3;
  if (tally.items === 0 && !config.allowEmpty) return 5;
  return tally.errors > 0 && !config.allowErrors ? 5 : 0;
}
