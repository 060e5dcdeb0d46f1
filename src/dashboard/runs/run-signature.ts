import { lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { commitsName, DECISIONS_FILE, RUN_FILES } from '../../files/run-files.ts';
import { listEpochs } from '../../record/log/epochs.ts';

/** Returns a string that changes when a run does, from times and sizes of the files it writes. */
export async function runSignature(dir: string): Promise<string> {
  const newest = (await listEpochs(dir)).at(-1);
  const commits = newest === undefined ? [] : [join(RUN_FILES.log, commitsName(newest))];
  const { run, plan, control, summary, purged } = RUN_FILES;
  const parts = [run, plan, control, summary, purged, ...commits].map((name) => stateOf(join(dir, name)));
  return (await Promise.all(parts)).join('; ');
}

/** Like `runSignature`, but also changes with every decision in the folder of runs. */
export async function signatureWithReviews(dir: string): Promise<string> {
  return `${await runSignature(dir)}; ${await stateOf(join(dirname(dir), DECISIONS_FILE))}`;
}

async function stateOf(path: string): Promise<string> {
  const found = await lstat(path).catch(() => null);
  return found === null ? '-' : `${found.ino} ${found.size} ${found.mtimeMs}`;
}
