import type { RunRow } from '../../../src/dashboard/api/runs.ts';
import { escapeText } from '../../../src/domain/text/escape-text.ts';
import { Icon } from '../ui/icon.tsx';

const MAX_PROBLEM = 300;

/** Why a run does not go on, or cannot be read. */
export function RunProblem({ problem }: Pick<RunRow, 'problem'>) {
  if (problem === null) return null;
  return (
    <p class="run-problem">
      <Icon name="alert" />
      <span>{escapeText(problem, MAX_PROBLEM)}</span>
    </p>
  );
}
