import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { commitsName, REVIEW_FILES, RUN_FILES } from '../../files/run-files.ts';
import { listEpochs } from '../../record/log/epochs.ts';

/** A text that changes when a run does: times and sizes of what it writes, and of the reviews. */
export async function runSignature(dir: string): Promise<string> {
  const newest = (await listEpochs(dir)).at(-1);
  const commits = newest === undefined ? [] : [join(RUN_FILES.log, commitsName(newest))];
  const { run, plan, control, summary, purged } = RUN_FILES;
  const reviews = join(RUN_FILES.review, REVIEW_FILES.reviews);
  const parts = [run, plan, control, summary, purged, reviews, ...commits].map(async (name) => {
    const found = await lstat(join(dir, name)).catch(() => null);
    return found === null ? '-' : `${found.ino} ${found.size} ${found.mtimeMs}`;
  });
  return (await Promise.all(parts)).join('; ');
}
