import { join } from 'node:path';
import { Failure } from '../domain/failure.ts';
import { pathExists } from '../files/folders.ts';
import { RUN_FILES } from '../files/run-files.ts';

/** Failure('usage') for a path at which there is no run, finished or not. A run that lost one of its files is damaged. */
export async function assertRunDirectory(dir: string): Promise<void> {
  if ((await pathExists(join(dir, RUN_FILES.run))) || (await pathExists(join(dir, RUN_FILES.manifest))))
    return;
  throw new Failure(
    'usage',
    `${dir} is not a run directory: it has neither ${RUN_FILES.run} nor ${RUN_FILES.manifest}; type the path that enqueue printed`,
  );
}
