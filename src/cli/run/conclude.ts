import { Failure } from '../../domain/failure.ts';
import { gateText } from '../../record/summary/gates.ts';
import { summaryLines } from '../../record/summary/summary-text.ts';
import { handOver } from '../../runs/finish/hand-over.ts';
import { EXIT_STATUS, type RunResult } from '../../runs/run-end.ts';
import type { FeedUi } from '../context.ts';
import { resumeCommand } from './resume-command.ts';
import { tell } from './run-report.ts';

/**
 * Prints the summary of a run that came to its end, then hands over its head; returns the exit status. Failure('service')
 * when the head could not be noted or the `--on-finish` command failed.
 */
export async function conclude(
  result: RunResult,
  { retry, notes }: { readonly retry: boolean; readonly notes: readonly string[] },
  ui: FeedUi,
): Promise<number> {
  const { run, summary, worked } = result;
  if (!worked) {
    tell(ui, retry ? 'nothing to retry: no item ended in a retryable error' : 'this run is finished');
  }
  for (const gate of summary.gates) {
    if (gate.tripped) ui.stderr.line(`guardsweep: gate ${gateText(gate)}`);
  }
  if (ui.json) ui.stdout.json(summary);
  else ui.stdout.lines([...summaryLines(summary), ...notes, run.dir]);
  const { afterFinish, cwd, env, interrupts } = ui;
  const failures = await handOver(result, { afterFinish, cwd, env, signal: interrupts.drain });
  for (const { cause } of failures) {
    if (typeof cause === 'string' && cause !== '') ui.stderr.lines(cause.split('\n'));
  }
  if (failures.length === 0) return EXIT_STATUS[result.end];
  const problems = failures.map(({ message }) => message).join('; ');
  throw new Failure(
    'service',
    `the run is finished, but ${problems}; to try again, give the same flags to: ${resumeCommand(run.dir, ui)}`,
  );
}
