import { hash } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { ChainedFile } from '../../files/chained-file.ts';
import { NotAnOrdinaryFile } from '../../files/open-file.ts';
import { REVIEW_FILES, RUN_FILES } from '../../files/run-files.ts';
import { readRunFile } from '../read-run-file.ts';

/**
 * A file in the folder `review` of a run directory: a chain that begins with the hash of run.json. `take` takes every entry
 * once, in order; its keys are not validated.
 */
export async function openReviewChain(
  runDir: string,
  name: keyof typeof REVIEW_FILES,
  take: (entry: Readonly<Record<string, unknown>>) => void,
): Promise<ChainedFile> {
  const within = `${RUN_FILES.review}/${REVIEW_FILES[name]}`;
  const genesis = hash('sha256', await readRunFile(runDir, RUN_FILES.run));
  return new ChainedFile({ path: join(runDir, within), name: within, genesis, take });
}

/** Whether a run has a folder of reviews. Rejects with NotAnOrdinaryFile for anything else in its place, such as a link. */
export async function hasReviews(runDir: string): Promise<boolean> {
  const folder = join(runDir, RUN_FILES.review);
  try {
    if ((await lstat(folder)).isDirectory()) return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
  throw new NotAnOrdinaryFile(folder);
}
