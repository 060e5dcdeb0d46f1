import { relative } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { shellWord } from '../../domain/text/shell-word.ts';

/** The command that finishes a run, started as this one was: through npm, or directly. */
export function resumeCommand(
  runDir: string,
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): string {
  const fromHere = relative(cwd, runDir);
  const path = shellWord(fromHere === '' || fromHere.startsWith('..') ? runDir : fromHere);
  return env['npm_lifecycle_event'] === undefined ? `guardsweep resume ${path}` : `npm run resume -- ${path}`;
}

/** Failure of a command whose run was interrupted: exit status 130, and how to finish the run. */
export function interruptedFailure(
  runDir: string,
  place: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Failure {
  return new Failure(
    'interrupted',
    `interrupted; what was judged is kept, finish it with: ${resumeCommand(runDir, place)}`,
  );
}
