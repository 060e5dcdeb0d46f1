import { Failure } from '../../domain/failure.ts';
import type { RunView } from '../../runs/progress.ts';
import type { Run } from '../../runs/create-run.ts';
import { exitStatus, trippedGates } from '../../runs/exit-status.ts';
import type { Summary } from '../../record/summary/summary.ts';
import { goneFailure } from '../../sink/run-gone.ts';
import { summaryLines } from '../../record/summary/summary-text.ts';
import type { RunUi } from '../context.ts';
import type { ProgressSnapshot } from '../progress/progress-line.ts';
import { interruptedFailure, resumeCommand } from './resume-command.ts';

/** What the progress line shows of a run; `note` is what holds it up. */
export function snapshot(view: RunView, note: string | null): ProgressSnapshot {
  return {
    planned: view.planned,
    planClosed: view.planClosed,
    judged: view.judged,
    errors: view.errors,
    // What was read but not judged yet is the same share of what was read as of the bytes.
    fraction: view.planned === 0 ? null : (view.readShare * (view.judged + view.errors)) / view.planned,
    note,
  };
}

/** Prints the summary of a run that came to its end, and gives its exit status. */
export function report(run: Run, summary: Summary, ui: RunUi, notes: readonly string[]): number {
  const { config } = run.record;
  for (const gate of trippedGates(config.failIf, summary)) tell(ui, `gate: ${gate}`);
  if (ui.json) ui.stdout.json(summary);
  else ui.stdout.lines([...summaryLines(summary), ...notes, run.dir]);
  return exitStatus(config, summary);
}

const UNWRITABLE: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS']);

/** A failure in the middle of a run says how to go on. */
export function explained(error: unknown, run: Run, ui: RunUi): unknown {
  if (error instanceof Failure && error.kind === 'interrupted') return interruptedFailure(run.dir, ui);
  const gone = goneFailure(run.dir, error);
  if (gone !== null) return gone;
  if (!(error instanceof Failure)) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (!UNWRITABLE.has(code)) return error;
    return new Failure('usage', `the run directory cannot be written: ${run.dir} (${code})`, {
      cause: error,
    });
  }
  if (error.kind === 'service') {
    const message = `${error.message}; what was judged is kept, finish it with: ${resumeCommand(run.dir, ui)}`;
    return new Failure('service', message, { cause: error });
  }
  return error;
}

/** A line for people, unless they want none. */
export function tell(ui: RunUi, line: string): void {
  if (!ui.quiet) ui.stderr.line(`guardsweep: ${line}`);
}
