import type { z } from 'zod';
import type { CanaryChoice } from '../../config/run-config.ts';
import type { CanaryCheck } from '../../domain/canary/canary-check.ts';
import { plural } from '../../domain/text/plural.ts';
import type { CANARIES, Immutable } from './summary-schema.ts';

/** Counts of the canaries of a run; the manifest has each answer. */
export type CanaryCounts = Immutable<z.infer<typeof CANARIES>>;

export function countCanaries({ from }: CanaryChoice, checks: readonly CanaryCheck[]): CanaryCounts {
  const all = checks.flatMap(({ answers }) => answers);
  const asked = all.filter(({ passed }) => passed !== null);
  const passed = asked.filter((answer) => answer.passed).length;
  return {
    from,
    checks: checks.length,
    answers: asked.length,
    passed,
    skipped: all.length - asked.length,
  };
}

/** Formats the counts as one line. `reusedAll` means no guard judged in this run. */
export function canaryLine(
  { from, checks, answers, passed, skipped }: CanaryCounts,
  reusedAll: boolean,
): string {
  if (reusedAll) return 'Canaries: in the records of the runs that judged; no guard judged in this run';
  if (from === 'off') return 'Canaries: off; no guard had to prove that it judges';
  if (checks === 0) return 'Canaries: none; the guards of these verdicts were not asked for any';
  const left = skipped === 0 ? '' : `; ${skipped} skipped, without a probe`;
  return `Canaries: ${passed} of ${answers} as expected in ${checks} ${plural(checks, 'check')}${left}`;
}
