import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../domain/failure.ts';
import { RUN_FILES } from '../files/run-files.ts';

/** The failure to report when the run directory or its log disappeared during a run; null when both exist. */
export function goneFailure(runDir: string, cause?: unknown): Failure | null {
  if (!existsSync(join(runDir, RUN_FILES.run))) {
    return new Failure(
      'service',
      `the run directory was deleted or moved during the run: ${runDir}; if it is elsewhere now, resume it there`,
      { cause },
    );
  }
  if (existsSync(join(runDir, RUN_FILES.log))) return null;
  return new Failure(
    'service',
    `the verdict log was deleted or moved while it was being written: ${join(runDir, RUN_FILES.log)}; put it back and resume ` +
      'the run, or start a new one',
    { cause },
  );
}
