import { Failure } from '../../domain/failure.ts';
import { RunCancelled } from '../../runs/control/control-files.ts';
import type { Run } from '../../runs/create-run.ts';
import { goneFailure } from '../../sink/verdict-log/take-epoch.ts';
import type { RunUi } from '../context.ts';
import { interruptedFailure, resumeCommand } from './resume-command.ts';

const UNWRITABLE: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS']);

/** Adds the next step to a failure that ended the work on a run. */
export function explained(error: unknown, run: Run, ui: RunUi): unknown {
  if (error instanceof RunCancelled) return interruptedFailure(run.dir, ui, 'cancelled');
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

/** Prints a line unless `--quiet` or `--json` is given. */
export function tell(ui: RunUi, line: string): void {
  if (!ui.quiet) ui.stderr.say(line);
}
