import { relative } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { formatCliCommand, shellWord } from '../../domain/text/escape-text.ts';

/** The place where a command was typed. */
interface Place {
  /** Absolute path. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Formats a path as a word of a command to type, relative where that is shorter to read. */
export function toTypedPath(path: string, { cwd }: Pick<Place, 'cwd'>): string {
  const fromHere = relative(cwd, path);
  return shellWord(fromHere === '' || fromHere.startsWith('..') ? path : fromHere);
}

/** The command that would finish a run. */
export function resumeCommand(runDir: string, place: Place): string {
  return formatCliCommand('resume', [toTypedPath(runDir, place)], place.env);
}

/** Failure of a command whose run was interrupted or cancelled: exit status 130, and how to finish the run. */
export function interruptedFailure(
  runDir: string,
  place: Place,
  how: 'interrupted' | 'cancelled' = 'interrupted',
): Failure {
  return new Failure(
    'interrupted',
    `${how}; what was judged is kept, finish it with: ${resumeCommand(runDir, place)}`,
  );
}
