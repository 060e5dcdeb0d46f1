import { hasReviews, openReviewChain } from '../reviews/review-chain.ts';
import { ReviewHistory } from '../reviews/review-history.ts';

/**
 * Checks the chains of what people decided and were shown, if there are any: each follows from run.json, and every line
 * from those before it. Lines that were cut off the end are not missed. Failure('internal') for a chain that does not hold.
 */
export async function checkReviews(runDir: string, signal: AbortSignal): Promise<void> {
  if (!(await hasReviews(runDir))) return;
  await ReviewHistory.read(runDir, signal);
  await (await openReviewChain(runDir, 'reveals', () => undefined)).read(signal);
}
