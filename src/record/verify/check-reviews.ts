import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { openReviewChain } from '../reviews/review-chain.ts';
import { ReviewHistory } from '../reviews/review-history.ts';

/**
 * Checks the chains of what people decided and were shown, if there are any: each follows from run.json, and every line
 * from those before it. Lines that were cut off the end are not missed. Failure('internal') for a chain that does not hold.
 */
export async function checkReviews(runDir: string, signal: AbortSignal): Promise<void> {
  const folder = join(runDir, RUN_FILES.review);
  const found = await lstat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (found === null) return;
  if (!found.isDirectory()) throw new Failure('internal', `${RUN_FILES.review} is not a folder`);
  await ReviewHistory.read(runDir, signal);
  await (await openReviewChain(runDir, 'reveals', () => undefined)).read(signal);
}
